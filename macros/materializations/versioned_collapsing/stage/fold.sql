{# Folds the changes of each key into one. What counts are the upserts above the live row and after the last
   delete: `is_after`. Of each column they are combined as the policy says. Where there are none, the change is
   the highest one, which count_outcomes finds to be stale, a duplicate or a delete. #}
{% macro get_fold_sql(options, columns) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  select
    {{ key }},
    {%- for name in columns.payload %}
    {{ versioned_collapsing._fold_column_sql(name, options) }} as {{ adapter.quote(name) }},
    {%- endfor %}
    if(_dbt_folded_is_deleted, any(_dbt_marked._dbt_dead_at), maxIf(_dbt_marked.{{ version }},
        _dbt_is_taken)) as {{ version }},
    arrayFilter(_dbt_name -> _dbt_name <> '', [
      {%- for name in columns.payload %}if(countIf({{ versioned_collapsing._is_set_sql(name) }}) = 0,
          {{ versioned_collapsing.quote_literal(name) }}, ''){{ ', ' if not loop.last }}{% endfor -%}
    ]) as _dbt_folded_unset,
    countIf(_dbt_is_taken and _dbt_marked._dbt_is_deleted) > 0 as _dbt_folded_is_deleted,
    countIf(_dbt_is_taken and not _dbt_marked._dbt_is_tombstoned) = 0 as _dbt_folded_is_tombstoned,
    countIf(_dbt_is_taken and _dbt_buries) > 0 as _dbt_folded_is_buried,
    any(_dbt_is_base) as _dbt_combines,
    multiIf(
      _dbt_folded_is_deleted or _dbt_folded_is_tombstoned, 0,
      any(_dbt_has_after), countIf(_dbt_is_late and not _dbt_is_taken) + (not _dbt_combines
          and {{ versioned_collapsing._is_partial_sql('_dbt_folded_unset', columns) }}),
      countIf(_dbt_is_late and _dbt_is_taken)
    ) as _dbt_folded_unmerged
  from (
    select
      *,
      countIf(_dbt_is_after) over (partition by {{ key }}) > 0 as _dbt_has_after,
      if(_dbt_has_after, _dbt_is_after, _dbt_is_last) as _dbt_is_taken,
      not _dbt_is_deleted and not _dbt_is_tombstoned and _dbt_has_live and {{ version }} < _dbt_live_version
        and {{ 'true' if options.combine else versioned_collapsing._is_partial_sql('_dbt_unset',
            columns) }} as _dbt_is_late
    from (
      {{ versioned_collapsing.get_marks_without_versions_sql(options, columns) if options.delete_version == 'ignore'
          else versioned_collapsing.get_marks_sql(options, columns) }}
    )
  ) as _dbt_marked
  group by {{ key }}
{%- endmacro %}
