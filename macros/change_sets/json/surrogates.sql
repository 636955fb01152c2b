{# Whether text has one half of an escaped surrogate pair without the other half. Spark makes such a half a question
   mark. #}
{% macro get_has_lone_surrogate_sql(line) -%}
  {%- set pair = '\\\\u[dD][89abAB][0-9a-fA-F]{2}\\\\u[dD][c-fC-F][0-9a-fA-F]{2}' -%}
  {%- set other = '[^\\\\]++|\\\\[^u]|\\\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}' -%}
  contains({{ line }}, r'\u')
  and (contains({{ line }}, r'\ud') or contains({{ line }}, r'\uD'))
  and {{ line }} rlike r'^(?:{{ other }}|{{ pair }})*+\\u[dD]'
{%- endmacro %}
