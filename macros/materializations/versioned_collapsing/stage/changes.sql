{% macro get_stage_changes_sql(target, options, columns, sql, run, has_tombstones) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set names = get_quoted_csv(columns.names) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set folding = '_dbt_unset, _dbt_is_reset, _dbt_batch,' if columns.is_folded else '' -%}
  insert into {{ versioned_collapsing.get_change_set_relation(target, options) }} (
    {{ names }}, {{ folding }} _dbt_is_deleted, _dbt_is_tombstoned, _dbt_is_buried, _dbt_problem
  )
  with _dbt_changes as (
    {{ versioned_collapsing.get_cast_changes_sql(options, columns, sql, run) if columns.is_folded
        else versioned_collapsing.get_highest_change_sql(options, columns, sql, run) }}
  )
  {%- if has_tombstones %},
  _dbt_tombstones as (
    select {{ key }}, max({{ version }}) as _dbt_deleted_at, true as _dbt_is_tombstone
    from {{ versioned_collapsing.get_tombstones_relation(target) }}
    where {{ versioned_collapsing.get_key_lookup_sql(options.unique_key, '_dbt_changes') }}
      {%- if options.remember_deletes is not boolean %}
          and _remembered_at > now() - {{ versioned_collapsing.get_interval_sql(options.remember_deletes) }}{% endif %}
    group by {{ key }}
  )
  select
    {{ names }}, {{ folding }} _dbt_is_deleted,
    {%- if options.delete_version == 'ignore' %}
    ifNull(_dbt_is_tombstone and _dbt_deleted_at >= {{ version }} and not _dbt_is_deleted, false),
    false,
    {%- else %}
    ifNull(_dbt_is_tombstone and (_dbt_deleted_at > {{ version }} or (_dbt_deleted_at = {{ version }}
        and not _dbt_is_deleted)), false),
    ifNull(_dbt_is_tombstone and _dbt_deleted_at = {{ version }} and _dbt_is_deleted, false),
    {%- endif %}
    _dbt_problem
  from _dbt_changes
  left join _dbt_tombstones using ({{ key }})
  {%- else %}
  select {{ names }}, {{ folding }} _dbt_is_deleted, false, false, _dbt_problem
  from _dbt_changes
  {%- endif %}
  {{ versioned_collapsing.get_settings_sql(run) }}
{%- endmacro %}


{# At equal version the delete wins, so that the result does not depend on how events were cut into
   runs: across runs a delete at the live version removes the row, and its tombstone keeps it dead. #}
{% macro get_highest_change_sql(options, columns, sql, run) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  select *
  from ({{ versioned_collapsing.get_cast_changes_sql(options, columns, sql, run) }})
  order by {{ key }}, _dbt_problem desc, {{ adapter.quote(options.version) }} desc, _dbt_is_deleted desc
  limit 1 by {{ key }}
{%- endmacro %}
