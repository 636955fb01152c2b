{# The text of a value that is compared by its text; none for another value. A float becomes a Decimal by its digits,
   because 0.29 times a hundred is below 29. A Decimal becomes text, because a cast to an integer that cannot hold it
   would stop the statement. Enums are the same if their names are. #}
{% macro get_value_text_sql(value, given_type, type) %}
  {%- set base, given = versioned_collapsing.get_base_type(type), versioned_collapsing.get_base_type(given_type) -%}
  {%- if given == 'String' -%}
    {%- do return(value) -%}
  {%- elif given.startswith('FixedString(') and base != 'String' -%}
    {%- do return(versioned_collapsing.get_replaced_sql('toString(' ~ value ~ ')', '\\0+$', '')) -%}
  {%- elif given.startswith(('Variant(', 'Dynamic'))
      or (given.startswith('Enum') and base.startswith('Enum'))
      or ('Float' in given.split('(')[0] and base.startswith('Decimal')) -%}
    {%- do return('toString(' ~ value ~ ')') -%}
  {%- elif given.startswith('Decimal') and not base.startswith(('Decimal', 'String', 'Dynamic', 'JSON')) -%}
    {%- do return(versioned_collapsing.get_without_zeros_sql('toString(' ~ value ~ ')')) -%}
  {%- endif -%}
  {%- do return(none) -%}
{% endmacro %}


{# NaN equals nothing, not even itself: floats compare by their text. #}
{% macro get_comparable_sql(expression, type) %}
  {%- do return('toString(' ~ expression ~ ')' if 'Float' in type else expression) -%}
{% endmacro %}
