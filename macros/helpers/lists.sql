{% macro as_list(value) %}
  {%- do return([] if value is none else [value] if value is string or value is number else value | list) -%}
{% endmacro %}


{# Array columns reach macros as lists or, by way of agate, as their text. #}
{% macro parse_array(value) %}
  {%- do return(fromjson(value) if value is string else value) -%}
{% endmacro %}
