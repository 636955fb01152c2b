{# Stages the change set beside the target: in the target's types, one change a key, each marked when the
   key's tombstone is at or above it. Stops when a value has no place in the table. #}
{% macro stage_change_set(target, options, columns, sql, run) %}
  {%- set staged = versioned_collapsing.get_change_set_relation(target, options) -%}
  {%- do run_query('drop table if exists ' ~ staged) -%}
  {% call statement('create_staged_changes') -%}
    {{ versioned_collapsing.get_create_staged_changes_sql(staged, options, columns) }}
  {%- endcall %}
  {% call statement('stage_changes') -%}
    {{ versioned_collapsing.get_stage_changes_sql(target, options, columns, sql, run,
        versioned_collapsing.has_tombstones(target, options)) }}
  {%- endcall %}
  {%- set rejected = run_query("select count() as _dbt_n from " ~ staged ~ " where _dbt_problem <> '' "
      ~ versioned_collapsing.get_settings_sql()).rows[0]['_dbt_n'] -%}
  {%- if rejected -%}
    {%- set rejected = versioned_collapsing.read_rejected_rows(options, columns, sql, run) -%}
    {%- do versioned_collapsing.drop_staged(target) -%}
    {%- do versioned_collapsing.validate_rows_fit(target, options, rejected, run) -%}
  {%- endif -%}
  {%- if run.truncated_now -%}
    {%- set staged_before = versioned_collapsing.read_staged_row_count(
        target, versioned_collapsing.get_change_set_role(options)
    ) -%}
    {% call statement('stage_truncate') -%}
      {{ versioned_collapsing.get_stage_truncate_sql(target, options, run) }}
    {%- endcall %}
    {%- do run.update({'truncate_deletes': versioned_collapsing.read_staged_row_count(target,
        versioned_collapsing.get_change_set_role(options)) - staged_before}) -%}
  {%- endif -%}
{% endmacro %}
