{# `uniqExact(value)` of the live rows, from counts by value. #}
{% macro multiset_count_distinct(value, count='live_rows') -%}
  uniqExactIf({{ value }}, {{ versioned_collapsing._get_is_live_sql(count) }})
{%- endmacro %}
