{# How many of the rows of a group are to be merged away: those that are no part of what the signs leave. #}
{% macro get_waiting_rows_count_sql(sign) %}
  {%- do return('toInt64(count()) - abs(sum(' ~ sign ~ '))') -%}
{% endmacro %}
