{# Whether the text of a date or a time says what is stored of it. Its parts are written as ClickHouse would write them,
   and compared with what ClickHouse writes. A time with an offset is compared at that offset. Seconds since 1970, and
   dates such as 20250131, are compared by their digits. #}
{% macro _time_text_fits_sql(text, cast, type) %}
  {%- set pattern = '^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})'
      ~ '(?:[ T]([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\\.([0-9]*))?)?)? '
      ~ '?(Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)?$' -%}
  {%- set parts = 'extractGroups(' ~ text ~ ', ' ~ versioned_collapsing.quote_literal(pattern) ~ ')' -%}
  {%- set is_date = type in ('Date', 'Date32') -%}
  {%- set scale = modules.re.findall('^DateTime64\\((\\d)', type) | first | default(0) | int -%}
  {%- set written = versioned_collapsing._written_time_sql('_dbt_time', scale) -%}
  {%- set offset = versioned_collapsing._offset_sql('_dbt_time[8]') -%}
  {%- if is_date -%}
    {%- set stored = 'if(' ~ offset ~ ' = 0, toString(' ~ cast ~ ") || ' 00:00:00', '')" -%}
    {%- set digits = ['toString(' ~ cast ~ ')'] -%}
  {%- else -%}
    {%- set at_offset = 'toString(addSeconds(toTimeZone(' ~ cast ~ ", 'UTC'), " ~ offset ~ '))' -%}
    {%- set stored = "if(_dbt_time[8] = '', toString(" ~ cast ~ '), ' ~ at_offset ~ ')' -%}
    {%- set seconds = 'toDecimal128(' ~ cast ~ ', 9)' if type.startswith('DateTime64') else 'toUnixTimestamp(' ~ cast
        ~ ')' -%}
    {%- set digits = ['toString(' ~ cast ~ ')', 'toString(' ~ seconds ~ ')'] -%}
  {%- endif -%}
  {%- set known = [] -%}
  {%- for each in digits -%}{%- do known.append(versioned_collapsing._digits_sql(each)) -%}{%- endfor -%}
  {%- do return(
      'arrayExists(_dbt_time -> notEmpty(_dbt_time) and ' ~ stored ~ ' = ' ~ written ~ ', [' ~ parts ~ '])'
      ~ ' or (match(' ~ text ~ ', ' ~ versioned_collapsing.quote_literal('^[0-9]+(\\.[0-9]*)?$') ~ ') and has(['
      ~ known | join(', ')
      ~ '], ' ~ versioned_collapsing._digits_sql(text) ~ '))'
  ) -%}
{% endmacro %}


{% macro _digits_sql(text) %}
  {%- do return("trim(both '0' from " ~ versioned_collapsing.get_replaced_sql(text, '[^0-9]', '') ~ ')') -%}
{% endmacro %}
