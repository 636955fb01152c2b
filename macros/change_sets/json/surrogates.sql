{# Text that has an escaped half of a character without the other one; Spark makes it a question mark. #}
{% macro get_has_lone_surrogate_sql(line) -%}
  (contains({{ line }}, r'\ud') or contains({{ line }}, r'\uD'))
  and {{ line }} rlike r'^(?:[^\\]++|\\[^u]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+\\u[dD]'
{%- endmacro %}
