{# A text of a number as sign, digits and exponent: 1.50, +1.5 and 15e-1 are one number. What is none, as nan, has an
   empty text. #}
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


{# A float is stored as the nearest one that there is. It is what was given when its shortest text, one with as many
   digits as tell floats apart, or all its digits are the same number: 0.10000000000000001 is 0.1, and no Float32 is
   16777217. #}
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
