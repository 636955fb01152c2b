{# Precision and scale of a decimal type. #}
{% macro _get_precision(type) %}
  {%- set numbers = modules.re.findall('[0-9]+', type) | map('int') | list -%}
  {%- do return((numbers + [10, 0])[:2] if not numbers else (numbers + [0])[:2]) -%}
{% endmacro %}
