{# Some Sparks drop a fraction. #}
{% macro _get_integer_sql(text, type) -%}
  if(locate('.', {{ text }}) > 0, null, try_cast({{ text }} as {{ type }}))
{%- endmacro %}
