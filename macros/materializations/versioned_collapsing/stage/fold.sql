{# Folds the changes of each key into one. The policy of each column combines the values of the changes that are taken.
   If no upsert is new, the result is the fallback, and decide_outcomes finds that it is stale, a duplicate or a
   delete. #}
{% macro get_fold_sql(options, columns) -%}
  {%- set version = '_dbt_marked.' ~ adapter.quote(options.version) -%}
  {%- set leaves_columns = versioned_collapsing._is_partial_sql('_dbt_folded_unset', columns) -%}
  select
    {{ get_quoted_csv(options.unique_key) }},
    {%- for name in columns.payload %}
    {{ versioned_collapsing._fold_column_sql(name, options) }} as {{ adapter.quote(name) }},
    {%- endfor %}
    if(
      _dbt_folded_is_deleted, any(_dbt_marked._dbt_dead_at), maxIf({{ version }}, _dbt_marked._dbt_is_taken)
    ) as {{ adapter.quote(options.version) }},
    arrayFilter(_dbt_name -> _dbt_name <> '', [
      {%- for name in columns.payload %}
      {{ versioned_collapsing._unset_name_sql(name) }}{{ ',' if not loop.last }}
      {%- endfor %}
    ]) as _dbt_folded_unset,
    countIf(_dbt_marked._dbt_is_taken and _dbt_marked._dbt_is_deleted) > 0 as _dbt_folded_is_deleted,
    countIf(_dbt_marked._dbt_is_taken and not _dbt_marked._dbt_is_tombstoned) = 0 as _dbt_folded_is_tombstoned,
    countIf(_dbt_marked._dbt_is_taken and _dbt_marked._dbt_deletes_nothing) > 0 as _dbt_folded_is_buried,
    any(_dbt_marked._dbt_builds_on_live) as _dbt_combines,
    multiIf(
      _dbt_folded_is_deleted or _dbt_folded_is_tombstoned,
      0,
      any(_dbt_marked._dbt_has_new),
      countIf(_dbt_marked._dbt_is_late and not _dbt_marked._dbt_is_taken) + (not _dbt_combines
          and {{ leaves_columns }}),
      countIf(_dbt_marked._dbt_is_late and _dbt_marked._dbt_is_taken)
    ) as _dbt_folded_unmerged
  from _dbt_marked
  group by {{ get_quoted_csv(options.unique_key) }}
{%- endmacro %}
