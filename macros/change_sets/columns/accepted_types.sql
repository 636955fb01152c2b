{% macro is_type(type) %}
  {%- set name = versioned_collapsing.get_type_name(type) -%}
  {%- set scalars = '(boolean|tinyint|smallint|int|bigint|float|double|date|timestamp|timestamp_ntz|string|binary)$' -%}
  {%- set precision, scale = versioned_collapsing._get_precision(name) -%}
  {%- set is_decimal = modules.re.match('decimal[(][0-9]+(,[0-9]+)?[)]$', name) is not none -%}
  {%- do return(
      modules.re.match(scalars, name) is not none or (is_decimal and 1 <= precision <= 38 and scale <= precision)
  ) -%}
{% endmacro %}


{% macro get_types_text() %}
  {%- do return(
      'It takes boolean, tinyint, smallint, int, bigint, float, double, decimal of up to 38 digits, date, timestamp, '
      ~ 'timestamp_ntz, string or binary.'
  ) -%}
{% endmacro %}


{# Whether values of a type hold a field's text as it is. #}
{% macro is_text(type, encoding) %}
  {%- do return(type in ('string', 'binary') and encoding in (none, 'text')) -%}
{% endmacro %}
