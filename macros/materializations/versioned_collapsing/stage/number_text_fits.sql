{# The text of a number as sign, digits and exponent: 1.50, +1.5 and 15e-1 are the same number. A text that is no
   number, such as nan, becomes empty. #}
{% macro _number_sql(text) %}
  {%- set pattern = versioned_collapsing.quote_literal(
      '^([+-]?)([0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE]([+-]?[0-9]+))?$'
  ) -%}
  {%- set fraction = "length(splitByChar('.', _dbt_number[2])[2])" -%}
  {%- set digits = "trim(leading '0' from replaceOne(_dbt_number[2], '.', ''))" -%}
  {%- set significant = "trim(trailing '0' from " ~ digits ~ ")" -%}
  {%- do return(
      "arrayMap(_dbt_number -> multiIf(empty(_dbt_number), '', " ~ digits ~ " = '', '0', "
      ~ "concat(if(_dbt_number[1] = '-', '-', ''), " ~ significant ~ ", 'e', toString(toInt64OrZero(_dbt_number[3]) - "
      ~ fraction ~ " + length(" ~ digits ~ ") - length(" ~ significant ~ ")))), [extractGroups(" ~ text ~ ", " ~ pattern
      ~ ")])[1]"
  ) -%}
{% endmacro %}


{# A number is stored as the nearest float. It fits if one of three texts of the float is the same number: the shortest
   one, one with as many digits as tell floats apart, or one with all digits. So 0.10000000000000001 fits as 0.1, and
   16777217 fits no Float32. #}
{% macro _float_text_fits_sql(text, cast, type) %}
  {%- set number = versioned_collapsing._number_sql(text) -%}
  {%- set known = [versioned_collapsing._number_sql('toString(' ~ cast ~ ')')] -%}
  {%- for digits in {'Float32': (7, 8, 40), 'Float64': (15, 16, 40)}.get(type, ()) -%}
    {%- set format = versioned_collapsing.quote_literal('%.' ~ digits ~ 'e') -%}
    {%- do known.append(versioned_collapsing._number_sql('printf(' ~ format ~ ', ' ~ cast ~ ')')) -%}
  {%- endfor -%}
  {%- do return(
      '(isFinite(' ~ cast ~ ') or ' ~ number ~ " = '') and has([" ~ known | join(', ') ~ '], ' ~ number ~ ')'
  ) -%}
{% endmacro %}
