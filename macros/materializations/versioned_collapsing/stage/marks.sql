{# Marks each change; deletes are ordered among the upserts by version. `is_base` says whether what is left of
   the changes builds on the live row: no delete and no reset lies between. #}
{% macro get_marks_sql(options, columns) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  select
    *,
    countIf(_dbt_is_deleted) over (partition by {{ key }}) > 0 as _dbt_has_delete,
    maxIf({{ version }}, _dbt_is_deleted) over (partition by {{ key }}) as _dbt_dead_at,
    max({{ version }}) over (partition by {{ key }}) as _dbt_highest,
    {{ versioned_collapsing._reset_marks_sql(options) }},
    not _dbt_is_deleted and not _dbt_is_tombstoned
      and not (_dbt_has_reset and {{ version }} < _dbt_reset_at)
      and not (_dbt_has_delete and {{ version }} <= _dbt_dead_at)
      and not (_dbt_has_live and {{ version }} <= _dbt_live_version) as _dbt_is_after,
    {{ version }} = _dbt_highest and _dbt_is_deleted = (_dbt_has_delete
        and _dbt_dead_at = _dbt_highest) as _dbt_is_last,
    _dbt_is_buried as _dbt_buries,
    _dbt_is_alive and not (_dbt_has_delete and _dbt_live_version <= _dbt_dead_at)
        and not (_dbt_has_reset and _dbt_live_version < _dbt_reset_at) as _dbt_is_base
  from _dbt_changed
{%- endmacro %}
