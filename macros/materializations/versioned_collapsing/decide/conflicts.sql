{# Keys and versions of a few conflicts: changes with the version of a stored row and another payload. #}
{% macro get_conflicts_sql(target_relation, options, columns, uncollapsed, apply) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set torn = versioned_collapsing.get_helper_relation(target_relation, 'torn') -%}
  select
    {{ versioned_collapsing.get_shown_values_sql(options.unique_key + [options.version], '_dbt_changed') }}
      as _dbt_conflict
  from (
    select *
    from {{ versioned_collapsing.get_helper_relation(target_relation, 'changes') }}
    where not _dbt_is_deleted and not _dbt_is_tombstoned
      and ({{ key }}) not in (select {{ key }} from {{ torn }})
  ) as _dbt_changed
  inner join (
    select * from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
  ) as _dbt_stored
    on {{ versioned_collapsing.get_keys_equal_sql('_dbt_changed', '_dbt_stored', options.unique_key) }}
  where _dbt_changed.{{ version }} = _dbt_stored.{{ version }}
    and not ({{ versioned_collapsing._get_same_payload_sql('_dbt_changed', '_dbt_stored', columns) }})
  order by _dbt_conflict
  limit 3
  {{ versioned_collapsing.get_settings_sql(apply, {'join_algorithm': 'partial_merge'}) }}
{%- endmacro %}
