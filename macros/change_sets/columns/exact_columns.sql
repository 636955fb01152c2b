{# The columns in which it matters how a number is written. In columns of the other types, no number with a fraction or
   an exponent is a value. #}
{% macro get_exact_columns(columns) %}
  {%- set others = ('tinyint', 'smallint', 'int', 'bigint', 'date', 'timestamp', 'timestamp_ntz') -%}
  {%- set exact = [] -%}
  {%- for name, type in columns.items() if versioned_collapsing.get_kind(type) not in others -%}
    {%- do exact.append(name) -%}
  {%- endfor -%}
  {%- do return(exact) -%}
{% endmacro %}
