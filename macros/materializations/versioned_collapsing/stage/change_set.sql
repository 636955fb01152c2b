{# Stages the change set in the target's types, with one change per key unless changes are combined. A change at or
   below its key's tombstone is marked. Stops the run if a value does not fit the table. Returns what
   read_staged_changes returns, and `truncate_deletes`: how many deletes a truncate has added. #}
{% macro stage_change_set(target_relation, options, columns, sql, truncate, apply) %}
  {%- set role = versioned_collapsing.get_change_set_role(options) -%}
  {%- set staged = versioned_collapsing.get_helper_relation(target_relation, role) -%}
  {%- set has_tombstones = versioned_collapsing.has_tombstones(target_relation, options, apply) -%}
  {%- do versioned_collapsing.prepare_staged_table(
      staged, versioned_collapsing.get_create_staged_changes_sql(staged, options, columns), apply
  ) -%}
  {% call statement('stage_changes') -%}
    {{ versioned_collapsing.get_stage_changes_sql(
        target_relation, staged, options, columns, sql, truncate.at, has_tombstones, apply
    ) }}
  {%- endcall %}
  {%- set found = versioned_collapsing.read_staged_changes(staged, options, columns) -%}
  {%- if found.rejected -%}
    {%- set rejected = versioned_collapsing.read_rejected_rows(options, columns, sql, truncate.at, apply) -%}
    {%- do versioned_collapsing.empty_staged(target_relation, [role]) -%}
    {%- do versioned_collapsing.validate_rows_fit(target_relation, options, rejected, apply) -%}
  {%- elif truncate.is_now -%}
    {% call statement('stage_truncate') -%}
      {{ versioned_collapsing.get_stage_truncate_sql(target_relation, staged, options, truncate.at, apply) }}
    {%- endcall %}
    {%- set with_deletes = versioned_collapsing.read_staged_changes(staged, options, columns) -%}
    {%- do return(dict(with_deletes, truncate_deletes=with_deletes.row_count - found.row_count)) -%}
  {%- endif -%}
  {%- do return(dict(found, truncate_deletes=0)) -%}
{% endmacro %}


{# How many changes are staged, of how many keys, and how many of them do not fit the table. #}
{% macro read_staged_changes(staged, options, columns) %}
  {%- set key = 'tuple(' ~ get_quoted_csv(options.unique_key) ~ ')' -%}
  {%- set query -%}
    select
      count() as _dbt_row_count,
      {{ 'uniqExact(' ~ key ~ ')' if columns.is_folded else 'count()' }} as _dbt_key_count,
      countIf(_dbt_problem <> '') as _dbt_rejected
    from {{ staged }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- do return({
      'row_count': found['_dbt_row_count'] | int,
      'key_count': found['_dbt_key_count'] | int,
      'rejected': found['_dbt_rejected'] | int,
  }) -%}
{% endmacro %}
