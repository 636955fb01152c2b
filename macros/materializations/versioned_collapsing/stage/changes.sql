{% macro get_stage_changes_sql(
    target_relation, staged, options, columns, sql, truncated_at, has_tombstones, apply
) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set names = get_quoted_csv(columns.names) ~ (', _dbt_unset, _dbt_is_reset, _dbt_batch' if columns.is_folded
      else '') -%}
  insert into {{ staged }} (
    {{ names }}, _dbt_is_deleted, _dbt_is_tombstoned, _dbt_is_buried, _dbt_problem
  )
  with _dbt_changes as (
    {{ versioned_collapsing._get_changes_sql(options, columns, sql, truncated_at) }}
  )
  {%- if has_tombstones %},
  _dbt_tombstones as (
    {{ versioned_collapsing.get_tombstones_sql(target_relation, options) }}
  )
  select {{ names }}, _dbt_is_deleted, {{ versioned_collapsing.get_tombstone_marks_sql(options) }}, _dbt_problem
  from _dbt_changes
  left join _dbt_tombstones using ({{ key }})
  {%- else %}
  select {{ names }}, _dbt_is_deleted, false as _dbt_is_below, false as _dbt_is_same, _dbt_problem
  from _dbt_changes
  {%- endif %}
  {{ versioned_collapsing.get_settings_sql(apply) }}
{%- endmacro %}


{# The changes to stage: all of them if they are combined, otherwise the highest one of each key. At equal versions the
   delete wins, so that the result does not depend on how the events are split into runs: if they come in two runs, a
   delete at the live version removes the row, and its tombstone keeps the row deleted. #}
{% macro _get_changes_sql(options, columns, sql, truncated_at) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set changes = versioned_collapsing.get_cast_changes_sql(options, columns, sql, truncated_at) -%}
  {%- if columns.is_folded -%}
  {{ changes }}
  {%- else -%}
  select *
  from ({{ changes }})
  order by {{ key }}, _dbt_problem desc, {{ adapter.quote(options.version) }} desc, _dbt_is_deleted desc
  limit 1 by {{ key }}
  {%- endif -%}
{%- endmacro %}
