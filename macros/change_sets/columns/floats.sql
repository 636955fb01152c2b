{# Spark rounds to what the type holds. A text is a value of the type if the value has the same digits, rounded to as
   many. A float may also be written with the digits of its value as a double. Short text needs no check. #}
{% macro _get_float_sql(text, type) -%}
  {%- set typed = 'try_cast(' ~ text ~ ' as ' ~ type ~ ')' -%}
  {%- set numbers = typed ~ (', cast(' ~ typed ~ ' as double)' if type == 'float' else '') -%}
  if(length({{ text }}) <= {{ 6 if type == 'float' else 15 }} and {{ text }} rlike '^-?[0-9]+([.][0-9]+)?$'
    or lower({{ text }}) in ('nan', 'infinity', '+infinity', '-infinity', 'inf', '+inf', '-inf')
    or ({{ text }} rlike '^ *[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)? *$'
      and exists(array({{ numbers }}), number -> {{ versioned_collapsing._get_has_digits_sql(text) }})),
    {{ typed }}, null)
{%- endmacro %}
