{# A key is torn if its uncollapsed rows are not exactly one state row. #}
{% macro get_collapse_status_sql(table, options) -%}
  {%- set sign = versioned_collapsing.quote_name(options.sign) -%}
  select
    _dbt_live as live,
    _dbt_stored as stored,
    _dbt_waiting as waiting,
    (
      select count()
      from (
        select {{ versioned_collapsing.quote_names(options.unique_key) }}
        from {{ table }} final
        group by all
        having count() > 1 or min({{ sign }}) < 0
      )
    ) as torn_keys
  from (
    select
      sum({{ sign }}) as _dbt_live,
      count() as _dbt_stored,
      {{ versioned_collapsing.get_waiting_rows_count_sql(sign) }} as _dbt_waiting
    from {{ table }}
  )
  {{ versioned_collapsing.get_settings_sql(none, {'do_not_merge_across_partitions_select_final': 1}) }}
{%- endmacro %}


{% macro get_waiting_rows_sql(table, options) -%}
  {%- set sign = versioned_collapsing.quote_name(options.sign) -%}
  select
    _dbt_partition_id as partition_id,
    _dbt_stored as stored,
    _dbt_waiting as waiting,
    _dbt_parts as parts
  from (
    select
      _partition_id as _dbt_partition_id,
      count() as _dbt_stored,
      {{ versioned_collapsing.get_waiting_rows_count_sql(sign) }} as _dbt_waiting,
      uniqExact(_part) as _dbt_parts
    from {{ table }}
    group by _dbt_partition_id
  )
  where _dbt_waiting > 0
  order by _dbt_waiting desc
  limit 10
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}
