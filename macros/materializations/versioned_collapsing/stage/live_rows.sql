{# The live row of each staged key: if it has several uncollapsed state rows, the one with the highest version. #}
{% macro _get_live_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  select {{ get_quoted_csv(columns.names) }}
  from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
  where {{ adapter.quote(options.sign) }} = 1
  order by {{ key }}, {{ adapter.quote(options.version) }} desc
  limit 1 by {{ key }}
{%- endmacro %}


{# The changes, each with a flag that says whether its key has a live row, and with the version of that row. #}
{% macro _get_changes_beside_live_rows_sql(changes, options) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  select
    _dbt_changes.*,
    _dbt_live_versions._dbt_is_live as _dbt_has_live,
    _dbt_live_versions._dbt_live_version as _dbt_live_version
  from {{ changes }} as _dbt_changes
  left any join (
    select {{ key }}, {{ adapter.quote(options.version) }} as _dbt_live_version, true as _dbt_is_live from _dbt_live
  ) as _dbt_live_versions
    on {{ versioned_collapsing.get_keys_equal_sql('_dbt_changes', '_dbt_live_versions', options.unique_key) }}
{%- endmacro %}
