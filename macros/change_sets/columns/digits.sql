{# The significant digits of a number. #}
{% macro _get_digits_of_sql(text) -%}
  trim(both '0' from regexp_replace({{ text }}, '[eE].*|[^0-9]', ''))
{%- endmacro %}


{# Whether `number`, rounded to as many digits as the text has, has the digits of the text. Java may write more digits
   than are needed to tell a double from its neighbours, and 9.99 for 10. #}
{% macro _get_has_digits_sql(text) -%}
  exists(
    array({{ versioned_collapsing._get_digits_of_sql(text) }}),
    digits -> length(digits) <= 30 and exists(
      array('0.', '0.0'),
      point -> abs(
        cast('0.' || digits as decimal(38, 37))
        - cast(point || {{ versioned_collapsing._get_digits_of_sql('number') }} as decimal(38, 37))
      ) <= cast('0.' || repeat('0', length(digits)) || '5' as decimal(38, 37))
    )
  )
{%- endmacro %}
