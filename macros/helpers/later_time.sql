{# The time now or, if a clock was set back, a time just after the last recorded one: rows are read in the order of
   their times. #}
{% macro get_later_time_sql(relation, column, condition) %}
  {%- do return(
      "greatest(now64(6, 'UTC'), (select max(" ~ column ~ ') + toIntervalMicrosecond(1) from ' ~ relation ~ ' where '
      ~ condition ~ '))'
  ) -%}
{% endmacro %}
