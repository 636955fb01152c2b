{# Spark rounds to the scale, so digits that it would lose make the value null. A number with an exponent is a value of
   the type if it has the same digits after the cast. #}
{% macro _get_decimal_sql(text, type) -%}
  {%- set typed = 'try_cast(' ~ text ~ ' as ' ~ type ~ ')' -%}
  {%- set digits = versioned_collapsing._get_digits_of_sql(text) -%}
  if({{ text }} rlike '^[+-]?[0-9]*[.]?[0-9]{0,{{ versioned_collapsing._get_precision(type)[1] }}}0*$'
    or exists(array({{ typed }}), number -> {{ versioned_collapsing._get_digits_of_sql('number') }} = {{ digits }}),
    {{ typed }}, null)
{%- endmacro %}
