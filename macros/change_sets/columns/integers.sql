{# Some versions of Spark drop a fraction, so a text with a point is no integer. #}
{% macro _get_integer_sql(text, type) -%}
  if(contains({{ text }}, '.'), null, try_cast({{ text }} as {{ type }}))
{%- endmacro %}
