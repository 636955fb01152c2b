{# Spark rounds to the scale. A number with an exponent is held when it has the same digits after the cast. #}
{% macro _get_decimal_sql(text, type) -%}
  {%- set typed = 'try_cast(' ~ text ~ ' as ' ~ type ~ ')' -%}
  {%- set digits = versioned_collapsing._get_digits_of_sql(text) -%}
  if({{ text }} rlike '^[+-]?[0-9]*[.]?[0-9]{0,{{ versioned_collapsing._get_precision(type)[1] }}}0*$'
    or exists(array({{ typed }}), number -> {{ versioned_collapsing._get_digits_of_sql('number') }} = {{ digits }}),
    {{ typed }}, null)
{%- endmacro %}
