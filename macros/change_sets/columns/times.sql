{# The forms of ISO 8601 that have only one meaning. Spark itself takes a time without a day for a time of today, and
   takes a day with any text behind it. #}
{% macro _get_time_sql(text, type) -%}
  {%- set day = '[0-9]{4}-[0-9]{2}-[0-9]{2}' -%}
  {%- set zone = '(Z|[+-][0-9]{2}(:?[0-9]{2})?)?' if type == 'timestamp' else '' -%}
  {%- set time = {
      'date': '([T ]00:00(:00([.]0+)?)?)?',
  }.get(type, '([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6}0*)?)?' ~ zone ~ ')?') -%}
  if({{ text }} rlike '^{{ day ~ time }}$', try_cast({{ text }} as {{ type }}), null)
{%- endmacro %}


{# The range of dates and times that every version of ClickHouse holds in Date32 and DateTime64. #}
{% macro get_default_range(type) %}
  {%- do return({
      'date': ['1900-01-01', '2299-12-31'],
      'timestamp': ['1900-01-01 00:00:00Z', '2299-12-31 23:59:59.999999Z'],
  }.get(type)) -%}
{% endmacro %}
