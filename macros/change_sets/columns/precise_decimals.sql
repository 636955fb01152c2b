{# The decimal that Debezium writes as bytes: the digits without the point, a two's complement number of up to 16
   bytes. `{"scale": …, "value": …}` is a decimal that brings its own scale, which may be more than the column's
   when the digits beyond are zeros. Spark converts 8 bytes at a time. #}
{% macro get_precise_decimal_sql(text, scale) -%}
  {%- set is_variable = "startswith(" ~ text ~ ", '{')" -%}
  {%- set bytes = 'if(' ~ is_variable ~ ', get_json_object(' ~ text ~ ", '$.value'), " ~ text ~ ')' -%}
  {%- set given_scale = 'try_cast(get_json_object(' ~ text ~ ", '$.scale') as int)" -%}
  {%- set own_scale = 'if(' ~ is_variable ~ ', ' ~ given_scale ~ ', ' ~ scale ~ ')' -%}
  {%- set complement = "translate(lpad(digits, 32, 'F'), '0123456789ABCDEF', 'FEDCBA9876543210')" -%}
  if({{ text }} is null, null, coalesce(
    transform(
      transform(array({{ versioned_collapsing._get_hex_sql(bytes) }}), digits -> case
        when length(digits) not between 2 and 32 then null
        when digits < '8' then {{ versioned_collapsing._get_unsigned_sql("lpad(digits, 32, '0')") }}
        else -1 - {{ versioned_collapsing._get_unsigned_sql(complement) }}
      end),
      number -> if(
        right(cast(number as string), {{ own_scale }} - {{ scale }}) rlike '[1-9]',
        null,
        concat(number, 'E', -{{ own_scale }})
      )
    )[0],
    'no decimal'
  ))
{%- endmacro %}


{# Base64 as hexadecimal digits; null for text that is not written as base64, such as a decimal of 2 digits. #}
{% macro _get_hex_sql(text) -%}
  if(base64(try_to_binary({{ text }}, 'base64')) = {{ text }}, hex(try_to_binary({{ text }}, 'base64')), null)
{%- endmacro %}


{# 32 hexadecimal digits as a number; null if it has more than 38 decimal digits. #}
{% macro _get_unsigned_sql(digits) -%}
  try_add(
    try_multiply(cast(conv(substr({{ digits }}, 1, 16), 16, 10) as decimal(20, 0)), 18446744073709551616BD),
    cast(conv(substr({{ digits }}, 17, 16), 16, 10) as decimal(20, 0))
  )
{%- endmacro %}
