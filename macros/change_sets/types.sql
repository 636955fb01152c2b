{# Text in the declared types. Each cast is null for all text that is not exactly a value of the type. #}
{% macro _get_type_names() %}
  {%- do return({
      'byte': 'tinyint', 'short': 'smallint', 'integer': 'int', 'long': 'bigint', 'real': 'float',
      'dec': 'decimal', 'numeric': 'decimal', 'timestamp_ltz': 'timestamp',
  }) -%}
{% endmacro %}


{# A type in one spelling: `DEC(12, 2)` is `decimal(12,2)`. #}
{% macro get_type_name(type) %}
  {%- set name = modules.re.sub('\\s', '', type | lower) -%}
  {%- set kind = modules.re.match('[a-z_]*', name).group() -%}
  {%- set found = versioned_collapsing._get_type_names().get(kind, kind) ~ name[kind | length:] -%}
  {%- do return('decimal(10,0)' if found == 'decimal' else found) -%}
{% endmacro %}


{% macro is_type(type) %}
  {%- set name = versioned_collapsing.get_type_name(type) -%}
  {%- set scalars = '(boolean|tinyint|smallint|int|bigint|float|double|date|timestamp|timestamp_ntz|string|binary)$' -%}
  {%- set precision, scale = versioned_collapsing._get_precision(name) -%}
  {%- do return(
      modules.re.match(scalars, name) is not none
      or (modules.re.match('decimal[(][0-9]+(,[0-9]+)?[)]$', name) is not none and 1 <= precision <= 38 and scale <= precision)
  ) -%}
{% endmacro %}


{% macro get_types_text() %}
  {%- do return(
      'It takes boolean, tinyint, smallint, int, bigint, float, double, decimal of up to 38 digits, date, timestamp, '
      ~ 'timestamp_ntz, string or binary.'
  ) -%}
{% endmacro %}


{% macro get_type_names(columns) %}
  {%- set found = {} -%}
  {%- for name, type in columns.items() -%}
    {%- do found.update({name: versioned_collapsing.get_type_name(type)}) -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}


{% macro get_kind(type) %}
  {%- do return(versioned_collapsing.get_type_name(type).split('(')[0]) -%}
{% endmacro %}


{# Whether values of a type hold a field's text as it is. #}
{% macro is_text(type, encoding) %}
  {%- do return(type in ('string', 'binary') and not encoding) -%}
{% endmacro %}


{% macro get_typed_sql(text, type, encoding) %}
  {%- set whole = "if(" ~ text ~ " rlike '^-?[0-9]+$', try_cast(" ~ text ~ " as bigint), null)" -%}
  {%- set typed = {
      'precise': 'try_cast(' ~ text ~ ' as ' ~ type ~ ')',
      'base64': "try_to_binary(" ~ text ~ ", 'base64')",
      'epoch_days': 'date_from_unix_date(try_cast(' ~ whole ~ ' as int))',
      'epoch_millis': 'timestamp_micros(try_multiply(' ~ whole ~ ', 1000L))',
      'epoch_micros': 'timestamp_micros(' ~ whole ~ ')',
      'epoch_nanos': "timestamp_micros(if(" ~ text ~ " rlike '^-?([0-9]+000|0)$', try_cast(" ~ text ~ " as bigint) div 1000, null))",
  }.get(encoding) -%}
  {%- if typed -%}
    {%- do return(typed) -%}
  {%- endif -%}
  {%- set kind = versioned_collapsing.get_kind(type) -%}
  {%- if kind == 'string' -%}
    {%- do return(text) -%}
  {%- elif kind in ('tinyint', 'smallint', 'int', 'bigint') -%}
    {%- do return(versioned_collapsing._get_integer_sql(text, type)) -%}
  {%- elif kind == 'decimal' -%}
    {%- do return(versioned_collapsing._get_decimal_sql(text, type)) -%}
  {%- elif kind in ('float', 'double') -%}
    {%- do return(versioned_collapsing._get_float_sql(text, type)) -%}
  {%- elif kind in ('date', 'timestamp', 'timestamp_ntz') -%}
    {%- do return(versioned_collapsing._get_time_sql(text, type)) -%}
  {%- endif -%}
  {%- do return('try_cast(' ~ text ~ ' as ' ~ type ~ ')') -%}
{% endmacro %}


{# Some Sparks drop a fraction. #}
{% macro _get_integer_sql(text, type) -%}
  if(locate('.', {{ text }}) > 0, null, try_cast({{ text }} as {{ type }}))
{%- endmacro %}


{# Spark rounds to the scale. A number with an exponent is held when it has the same digits after the cast. #}
{% macro _get_decimal_sql(text, type) -%}
  {%- set typed = 'try_cast(' ~ text ~ ' as ' ~ type ~ ')' -%}
  if({{ text }} rlike '^[+-]?[0-9]*[.]?[0-9]{0,{{ versioned_collapsing._get_precision(type)[1] }}}0*$'
    or exists(array({{ typed }}), number -> {{ versioned_collapsing._get_digits_of_sql('number') }} = {{ versioned_collapsing._get_digits_of_sql(text) }}),
    {{ typed }}, null)
{%- endmacro %}


{# Spark rounds to what the type holds. A value holds text when it has the same digits, as many as there are; a float
   may also be written as the double that it is. Short text needs no look. #}
{% macro _get_float_sql(text, type) -%}
  {%- set typed = 'try_cast(' ~ text ~ ' as ' ~ type ~ ')' -%}
  if(length({{ text }}) <= {{ 6 if type == 'float' else 15 }} and {{ text }} rlike '^-?[0-9]+([.][0-9]+)?$'
    or lower({{ text }}) in ('nan', 'infinity', '+infinity', '-infinity', 'inf', '+inf', '-inf')
    or ({{ text }} rlike '^ *[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)? *$'
      and exists(array({{ typed }}{{ ', cast(' ~ typed ~ ' as double)' if type == 'float' }}), number -> {{ versioned_collapsing._get_has_digits_sql(text) }})),
    {{ typed }}, null)
{%- endmacro %}


{# The digits of a number that count. #}
{% macro _get_digits_of_sql(text) -%}
  trim(both '0' from regexp_replace({{ text }}, '[eE].*|[^0-9]', ''))
{%- endmacro %}


{# Whether `number` has the digits of text, rounded to as many: Java may write more than tell a double from its
   neighbours, and 9.99 for 10. #}
{% macro _get_has_digits_sql(text) -%}
  exists(
    array({{ versioned_collapsing._get_digits_of_sql(text) }}),
    digits -> length(digits) <= 30 and exists(
      array('0.', '0.0'),
      point -> abs(
        cast('0.' || digits as decimal(38, 37)) - cast(point || {{ versioned_collapsing._get_digits_of_sql('number') }} as decimal(38, 37))
      ) <= cast('0.' || repeat('0', length(digits)) || '5' as decimal(38, 37))
    )
  )
{%- endmacro %}


{# The forms of ISO 8601 that have one meaning. Spark takes a time without its day for one of today, and a day with
   anything behind it. #}
{% macro _get_time_sql(text, type) -%}
  {%- set day = '[0-9]{4}-[0-9]{2}-[0-9]{2}' -%}
  {%- set zone = '(Z|[+-][0-9]{2}(:?[0-9]{2})?)?' if type == 'timestamp' else '' -%}
  {%- set time = {
      'date': '([T ]00:00(:00([.]0+)?)?)?',
  }.get(type, '([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6}0*)?)?' ~ zone ~ ')?') -%}
  if({{ text }} rlike '^{{ day ~ time }}$', try_cast({{ text }} as {{ type }}), null)
{%- endmacro %}
