{# Some Sparks drop a fraction. #}
{% macro _get_integer_sql(text, type) -%}
  if(contains({{ text }}, '.'), null, try_cast({{ text }} as {{ type }}))
{%- endmacro %}
