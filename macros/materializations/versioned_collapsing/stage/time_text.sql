{# A time as ClickHouse would write it, from its parts. The second has as many decimal digits as the type, or more if
   more are given. #}
{% macro _written_time_sql(parts, scale) %}
  {%- set written = [parts ~ '[1]'] -%}
  {%- for separator in ('-', '-', ' ', ':', ':') -%}
    {%- do written.append(
        versioned_collapsing.quote_literal(separator) ~ ', leftPad(' ~ parts ~ '[' ~ (loop.index + 1) ~ "], 2, '0')"
    ) -%}
  {%- endfor -%}
  {%- set fraction = "trim(trailing '0' from " ~ parts ~ '[7])' -%}
  {%- set padded = 'rightPad(' ~ fraction ~ ', greatest(' ~ scale ~ ', length(' ~ fraction ~ ")), '0')" -%}
  {%- do return('concat(' ~ written | join(', ') ~ ', if(' ~ padded ~ " = '', '', '.'), " ~ padded ~ ')') -%}
{% endmacro %}


{# The seconds of a time zone offset such as +01:00, +0100 or -01; 0 for Z. #}
{% macro _offset_sql(text) %}
  {%- set digits = 'replaceOne(' ~ text ~ ", ':', '')" -%}
  {%- set hours = 'toInt64OrZero(substring(' ~ digits ~ ', 2, 2))' -%}
  {%- set minutes = 'toInt64OrZero(substring(' ~ digits ~ ', 4, 2))' -%}
  {%- do return(
      'if(match(' ~ text ~ ", '^[+-]'), (" ~ hours ~ ' * 60 + ' ~ minutes ~ ') * if(startsWith(' ~ text
      ~ ", '-'), -60, 60), 0)"
  ) -%}
{% endmacro %}
