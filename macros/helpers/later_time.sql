{# The time now, or if a clock was set back the one after the last that is recorded: rows are read in the order of their
   times. #}
{% macro get_later_time_sql(relation, column, condition) %}
  {%- do return(
      "greatest(now64(6, 'UTC'), (select max(" ~ column ~ ') + toIntervalMicrosecond(1) from ' ~ relation ~ ' where '
      ~ condition ~ '))'
  ) -%}
{% endmacro %}
