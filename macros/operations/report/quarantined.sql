{# The lines of a quarantine, by reason, source and the day on which their batch was taken: their version is that time
   in microseconds. #}
{% macro get_report_quarantined_sql(table, options) -%}
  select
    toString(source_table) as source,
    toString(reason) as why,
    toString(toDate(fromUnixTimestamp64Micro({{ versioned_collapsing.quote_name(options.version) }}, 'UTC'))) as day,
    count() as n
  from {{ table }} final -- the live lines: repaired ones have left
  where {{ versioned_collapsing.quote_name(options.sign) }} = 1
  group by source, why, day
  order by day, source, why
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}
