{% macro is_type(type) %}
  {%- set name = versioned_collapsing.get_type_name(type) -%}
  {%- set scalars = '(boolean|tinyint|smallint|int|bigint|float|double|date|timestamp|timestamp_ntz|string|binary)$' -%}
  {%- set precision, scale = versioned_collapsing._get_precision(name) -%}
  {%- set is_decimal = modules.re.match('decimal[(][0-9]+(,[0-9]+)?[)]$', name) is not none -%}
  {%- do return(
      modules.re.match(scalars, name) is not none or (is_decimal and 1 <= precision <= 38 and scale <= precision)
  ) -%}
{% endmacro %}

{# A type in a uniform spelling: `DEC(12, 2)` becomes `decimal(12,2)`. #}
{% macro get_type_name(type) %}
  {%- set name = modules.re.sub('\\s', '', type | lower) -%}
  {%- set kind = modules.re.sub('[^a-z_].*', '', name) -%}
  {%- set other_names = {
      'byte': 'tinyint', 'short': 'smallint', 'integer': 'int', 'long': 'bigint', 'real': 'float',
      'dec': 'decimal', 'numeric': 'decimal', 'timestamp_ltz': 'timestamp',
  } -%}
  {%- set found = other_names.get(kind, kind) ~ name[kind | length:] -%}
  {%- do return('decimal(10,0)' if found == 'decimal' else found) -%}
{% endmacro %}

{# Precision and scale of a decimal type. #}
{% macro _get_precision(type) %}
  {%- set numbers = modules.re.findall('[0-9]+', type) | map('int') | list -%}
  {%- do return((numbers + [10, 0])[:2] if not numbers else (numbers + [0])[:2]) -%}
{% endmacro %}

{# Whether values of a type store a field's text unchanged. #}
{% macro is_text(type, encoding) %}
  {%- do return(type in ('string', 'binary') and encoding in (none, 'text')) -%}
{% endmacro %}

{% macro get_typed_sql(text, type, encoding) %}
  {%- set whole = "if(" ~ text ~ " rlike '^-?[0-9]+$', try_cast(" ~ text ~ " as bigint), null)" -%}
  {%- set typed = {
      'precise': 'try_cast(' ~ text ~ ' as ' ~ type ~ ')',
      'base64': "try_to_binary(" ~ text ~ ", 'base64')",
      'base64url': "try_to_binary(translate(" ~ text ~ ", '-_', '+/'), 'base64')",
      'hex': "try_to_binary(" ~ text ~ ", 'hex')",
      'nonzero': 'if(lower(' ~ text ~ ") in ('true', 'false'), cast(" ~ text ~ ' as boolean), ' ~ whole ~ ' <> 0)',
      'epoch_days': 'date_from_unix_date(try_cast(' ~ whole ~ ' as int))',
      'epoch_millis': 'timestamp_micros(try_multiply(' ~ whole ~ ', 1000L))',
      'epoch_micros': 'timestamp_micros(' ~ whole ~ ')',
      'epoch_nanos': "timestamp_micros(if(" ~ text ~ " rlike '^-?([0-9]+000|0)$', try_cast(" ~ text
          ~ " as bigint) div 1000, null))",
  }.get(encoding) -%}
  {%- if typed -%}{%- do return(typed) -%}{%- endif -%}
  {%- set kind = versioned_collapsing.get_kind(type) -%}
  {%- if kind == 'string' -%}
    {%- do return(text) -%}
  {%- elif kind in ('tinyint', 'smallint', 'int', 'bigint') -%}
    {#- Some versions of Spark drop a fraction, so a text with a point is not an integer. -#}
    {%- do return('if(contains(' ~ text ~ ", '.'), null, try_cast(" ~ text ~ ' as ' ~ type ~ '))') -%}
  {%- elif kind == 'decimal' -%}
    {%- do return(versioned_collapsing._get_decimal_sql(text, type)) -%}
  {%- elif kind in ('float', 'double') -%}
    {%- do return(versioned_collapsing._get_float_sql(text, type)) -%}
  {%- elif kind in ('date', 'timestamp', 'timestamp_ntz') -%}
    {%- do return(versioned_collapsing._get_time_sql(text, type)) -%}
  {%- endif -%}
  {%- do return('try_cast(' ~ text ~ ' as ' ~ type ~ ')') -%}
{% endmacro %}

{% macro get_kind(type) %}
  {%- do return(versioned_collapsing.get_type_name(type).split('(')[0]) -%}
{% endmacro %}

{# Spark rounds to the scale, so if digits would be lost the value becomes null. A number with an exponent is a value of
   the type if it has the same digits after the cast. #}
{% macro _get_decimal_sql(text, type) -%}
  {%- set typed = 'try_cast(' ~ text ~ ' as ' ~ type ~ ')' -%}
  {%- set digits = versioned_collapsing._get_digits_of_sql(text) -%}
  if({{ text }} rlike '^[+-]?[0-9]*[.]?[0-9]{0,{{ versioned_collapsing._get_precision(type)[1] }}}0*$'
    or exists(array({{ typed }}), number -> {{ versioned_collapsing._get_digits_of_sql('number') }} = {{ digits }}),
    {{ typed }}, null)
{%- endmacro %}

{# The significant digits of a number. #}
{% macro _get_digits_of_sql(text) -%}
  trim(both '0' from regexp_replace({{ text }}, '[eE].*|[^0-9]', ''))
{%- endmacro %}

{# Spark rounds to what the type holds. A text is a value of the type if the value has the same digits, rounded to the
   same number of digits. A float may also be written with its digits as a double. Short text needs no check. #}
{% macro _get_float_sql(text, type) -%}
  {%- set typed = 'try_cast(' ~ text ~ ' as ' ~ type ~ ')' -%}
  {%- set numbers = typed ~ (', cast(' ~ typed ~ ' as double)' if type == 'float' else '') -%}
  if(length({{ text }}) <= {{ 6 if type == 'float' else 15 }} and {{ text }} rlike '^-?[0-9]+([.][0-9]+)?$'
    or lower({{ text }}) in ('nan', 'infinity', '+infinity', '-infinity', 'inf', '+inf', '-inf')
    or ({{ text }} rlike '^ *[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)? *$'
      and exists(array({{ numbers }}), number -> {{ versioned_collapsing._get_has_digits_sql(text) }})),
    {{ typed }}, null)
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

{# The forms of ISO 8601 that have only one meaning. Spark itself reads a time without a day as a time of today, and a
   day followed by any text as that day. #}
{% macro _get_time_sql(text, type) -%}
  {%- set day = '[0-9]{4}-[0-9]{2}-[0-9]{2}' -%}
  {%- set zone = '(Z|[+-][0-9]{2}(:?[0-9]{2})?)?' if type == 'timestamp' else '' -%}
  {%- set time = {
      'date': '([T ]00:00(:00([.]0+)?)?)?',
  }.get(type, '([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6}0*)?)?' ~ zone ~ ')?') -%}
  if({{ text }} rlike '^{{ day ~ time }}$', try_cast({{ text }} as {{ type }}), null)
{%- endmacro %}

{# The condition that a text is not a value of its type. #}
{% macro get_misfit_sql(text, typed, type) %}
  {%- do return(none if type == 'string' else text ~ ' is not null and ' ~ typed ~ ' is null') -%}
{% endmacro %}

{# Debezium writes bytes in one of three ways, which cannot be told apart by their look. #}
{% macro get_binary_problems(columns, encodings) %}
  {%- set problems = [] -%}
  {%- for name, type in columns.items() if versioned_collapsing.get_kind(type) == 'binary' and name not in encodings -%}
    {%- do problems.append(
        "columns: " ~ name ~ " is binary, and encodings does not say how its bytes are written: 'base64' (Debezium's "
        ~ "default), 'base64url' or 'hex', by the connector's binary.handling.mode, or 'text'."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{# The encodings of each type: the ways in which a text can be written other than in the form that Spark reads. #}
{% macro get_encodings() %}
  {%- do return({
      'boolean': ['nonzero'],
      'decimal': ['precise'],
      'binary': ['base64', 'base64url', 'hex', 'text'],
      'date': ['epoch_days'],
      'timestamp': ['epoch_millis', 'epoch_micros', 'epoch_nanos'],
  }) -%}
{% endmacro %}

{# The columns for which it matters how a number is written. In columns of other types, a number with a fraction or an
   exponent is never a value. #}
{% macro get_exact_columns(columns) %}
  {%- set others = ('tinyint', 'smallint', 'int', 'bigint', 'date', 'timestamp', 'timestamp_ntz') -%}
  {%- set exact = [] -%}
  {%- for name, type in columns.items() if versioned_collapsing.get_kind(type) not in others -%}
    {%- do exact.append(name) -%}
  {%- endfor -%}
  {%- do return(exact) -%}
{% endmacro %}

{% macro get_text_array_sql(names) %}
  {%- do return("array('" ~ names | join("', '") ~ "')") -%}
{% endmacro %}

{# The text of a field in a form that a cast can read. If the column may lack its value, Debezium's placeholder becomes
   null. #}
{% macro get_text_sql(field, type, encoding, is_toasted, unavailable='__debezium_unavailable_value') %}
  {%- set text = field if not is_toasted else
      'if(' ~ field ~ ' in (' ~ versioned_collapsing.get_placeholders_sql(unavailable) ~ '), null, ' ~ field ~ ')' -%}
  {%- if encoding == 'precise' -%}
    {%- do return(versioned_collapsing.get_precise_decimal_sql(text, versioned_collapsing._get_precision(type)[1])) -%}
  {%- endif -%}
  {%- do return(text) -%}
{% endmacro %}

{# What Debezium writes for a value that the database did not send, for each kind of column. Its option
   `unavailable.value.placeholder` is a text. For bytes, it is the bytes of this text, in base64 or in hexadecimal
   digits. #}
{% macro get_placeholders_sql(unavailable) -%}
  {%- set literal = versioned_collapsing.quote_literal(unavailable) -%}
  {{ literal }}, base64(cast({{ literal }} as binary)), lower(hex({{ literal }})), hex({{ literal }}),
  {{ versioned_collapsing._get_nested_placeholders_sql(unavailable) }}
{%- endmacro %}

{# The placeholders in arrays of text, in hstore, in arrays of integers (the bytes of the text), and in arrays of UUIDs
   (a UUID of version 3 that is made of the text). #}
{% macro _get_nested_placeholders_sql(unavailable) %}
  {%- set bytes = versioned_collapsing._get_bytes(unavailable) -%}
  {%- set hash = local_md5(unavailable) -%}
  {%- set variant = '89ab89ab89ab89ab'['0123456789abcdef'.index(hash[16])] -%}
  {%- set uuid = [hash[:8], hash[8:12], '3' ~ hash[13:16], variant ~ hash[17:20], hash[20:]] | join('-') -%}
  {%- do return(versioned_collapsing.quote_literals([
      '["' ~ unavailable ~ '"]',
      '{"' ~ unavailable ~ '":"' ~ unavailable ~ '"}',
      '{"' ~ unavailable ~ '": "' ~ unavailable ~ '"}',
      '[' ~ bytes | join(',') ~ ']',
      '[' ~ bytes | join(', ') ~ ']',
      '["' ~ uuid ~ '"]',
  ])) -%}
{% endmacro %}

{# The bytes of a text in UTF-8, from its URL encoding: dbt 2 lacks Python's methods that return bytes. #}
{% macro _get_bytes(text) %}
  {%- set digits = '0123456789ABCDEF' -%}
  {%- set printable = ' !"#$%&' ~ "'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ"
      ~ "[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~" -%}
  {%- set bytes = [] -%}
  {%- for part in ('%' ~ text | urlencode).split('%')[1:] -%}
    {%- set is_escaped = not loop.first -%}
    {%- do bytes.append(digits.index(part[0]) * 16 + digits.index(part[1])) if is_escaped -%}
    {%- for character in part[2 if is_escaped else 0 :] -%}
      {%- do bytes.append(printable.index(character) + 32) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(bytes) -%}
{% endmacro %}

{# A decimal that Debezium writes as bytes: the digits without the point, as a two's complement number of up to 16
   bytes. `{"scale": …, "value": …}` is a decimal with its own scale, which may exceed the column's if the extra digits
   are zeros. Spark converts 8 bytes at a time. #}
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

{# The range of dates and times that Date32 and DateTime64 hold in every version of ClickHouse. #}
{% macro get_default_range(type) %}
  {%- do return({
      'date': ['1900-01-01', '2299-12-31'],
      'timestamp': ['1900-01-01 00:00:00Z', '2299-12-31 23:59:59.999999Z'],
  }.get(type)) -%}
{% endmacro %}

{# A date or time of which each value beyond the range becomes the nearest bound: open ends, such as 9999-12-31 and
   `infinity`. Debezium writes those of PostgreSQL as the texts and numbers below (tests/change_sets/dialects has the
   lines). Days overflow an integer, so that infinity is below zero: in a snapshot the driver's milliseconds do, in a
   stream the days since 2000. #}
{% macro get_clamped_sql(text, typed, type) -%}
  {%- set lowest, highest = versioned_collapsing.get_default_range(type) -%}
  {%- set is_date = type == 'date' -%}
  {%- set above = ["'infinity'", "'9223372036854775807'", "'2262-04-11t23:47:16.854775807'"]
      + (versioned_collapsing._get_days_sql([-622191234, -2147472692]) if is_date else []) -%}
  {%- set below = ["'-infinity'"] + (versioned_collapsing._get_days_sql([622191232]) if is_date else []) -%}
  case
    when rtrim('z', lower({{ text }})) in ({{ above | join(', ') }}) then cast('{{ highest }}' as {{ type }})
    when rtrim('z', lower({{ text }})) in ({{ below | join(', ') }}) then cast('{{ lowest }}' as {{ type }})
    when {{ text }} rlike r'^[+][0-9]{5,}-[0-9]{2}-' then cast('{{ highest }}' as {{ type }})
    when {{ text }} rlike r'^-[0-9]{4,}-[0-9]{2}-' then cast('{{ lowest }}' as {{ type }})
    else transform(array({{ typed }}), _found -> if(
      _found is null,
      null,
      greatest(least(_found, cast('{{ highest }}' as {{ type }})), cast('{{ lowest }}' as {{ type }}))
    ))[0]
  end
{%- endmacro %}

{# Numbers of days since 1970, and the same as dates, as text. #}
{% macro _get_days_sql(numbers) %}
  {%- set texts = [] -%}
  {%- for number in numbers -%}
    {%- do texts.extend(["'" ~ number ~ "'", 'cast(date_from_unix_date(' ~ number ~ ') as string)']) -%}
  {%- endfor -%}
  {%- do return(texts) -%}
{% endmacro %}

{% macro get_type_names(columns) %}
  {%- set found = {} -%}
  {%- for name, type in columns.items() -%}
    {%- do found.update({name: versioned_collapsing.get_type_name(type)}) -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}
