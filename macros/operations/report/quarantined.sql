{# The lines of a quarantine, by reason, source and the day on which their batch was taken. The version of a line is
   that time, in microseconds. #}
{% macro get_report_quarantined_sql(table, options) -%}
  select _dbt_source as source, _dbt_reason as why, _dbt_day as day, _dbt_n as n
  from (
    select
      toString(source_table) as _dbt_source,
      toString(reason) as _dbt_reason,
      toString(toDate(
        fromUnixTimestamp64Micro({{ versioned_collapsing.quote_name(options.version) }}, 'UTC')
      )) as _dbt_day,
      count() as _dbt_n
    from {{ table }} final -- the live lines: repaired ones have left
    where {{ versioned_collapsing.quote_name(options.sign) }} = 1
    group by _dbt_source, _dbt_reason, _dbt_day
  )
  order by day, source, why
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}
