{# How text becomes a value. An encoding says how the text is written where it is not as Spark reads it. #}
{% macro _get_encodings() %}
  {%- do return({
      'precise': 'decimal',
      'base64': 'binary',
      'epoch_days': 'date',
      'epoch_millis': 'timestamp',
      'epoch_micros': 'timestamp',
      'epoch_nanos': 'timestamp',
  }) -%}
{% endmacro %}


{% macro is_encoding_of(encoding, type) %}
  {%- do return(versioned_collapsing._get_encodings().get(encoding) == versioned_collapsing.get_kind(type)) -%}
{% endmacro %}


{% macro get_encodings_text() %}
  {%- set texts = [] -%}
  {%- for encoding, type in versioned_collapsing._get_encodings().items() -%}
    {%- do texts.append(type ~ " takes '" ~ encoding ~ "'") -%}
  {%- endfor -%}
  {%- do return(texts | join(', ')) -%}
{% endmacro %}


{# The text of a field as a cast can read it; null for what Debezium left out, in a column that may lack it. #}
{% macro get_text_sql(field, type, encoding, is_toasted, unavailable='__debezium_unavailable_value') %}
  {%- set text = field if not is_toasted else
      'if(' ~ field ~ ' in (' ~ versioned_collapsing.get_placeholders_sql(unavailable) ~ '), null, ' ~ field ~ ')' -%}
  {%- do return(versioned_collapsing._get_precise_decimal_sql(text, versioned_collapsing._get_precision(type)[1]) if encoding == 'precise' else text) -%}
{% endmacro %}


{# The decimal that Debezium writes as bytes: the digits without the point, a two's complement number of up to 16
   bytes. `{"scale": …, "value": …}` is a decimal that brings its own scale, which may be more than the column's when
   the digits beyond are zeros. Spark converts 8 bytes at a time. #}
{% macro _get_precise_decimal_sql(text, scale) -%}
  {%- set is_variable = text ~ " like '{%'" -%}
  {%- set bytes = 'if(' ~ is_variable ~ ', get_json_object(' ~ text ~ ", '$.value'), " ~ text ~ ')' -%}
  {%- set own_scale = 'if(' ~ is_variable ~ ', try_cast(get_json_object(' ~ text ~ ", '$.scale') as int), " ~ scale ~ ')' -%}
  if({{ text }} is null, null, coalesce(
    transform(
      transform(array({{ versioned_collapsing._get_hex_sql(bytes) }}), digits -> case
        when length(digits) not between 2 and 32 then null
        when digits < '8' then {{ versioned_collapsing._get_unsigned_sql("lpad(digits, 32, '0')") }}
        else -1 - {{ versioned_collapsing._get_unsigned_sql("translate(lpad(digits, 32, 'F'), '0123456789ABCDEF', 'FEDCBA9876543210')") }}
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


{# Base64 as hexadecimal digits; null for text that base64 is not written as, such as a decimal of 2 digits. #}
{% macro _get_hex_sql(text) -%}
  if(base64(try_to_binary({{ text }}, 'base64')) = {{ text }}, hex(try_to_binary({{ text }}, 'base64')), null)
{%- endmacro %}


{# The number of 32 hexadecimal digits; null above 38 decimal ones. #}
{% macro _get_unsigned_sql(digits) -%}
  try_add(
    try_multiply(cast(conv(substr({{ digits }}, 1, 16), 16, 10) as decimal(20, 0)), 18446744073709551616BD),
    cast(conv(substr({{ digits }}, 17, 16), 16, 10) as decimal(20, 0))
  )
{%- endmacro %}


{# The condition that text is no value of its type. #}
{% macro get_misfit_sql(text, typed, type) %}
  {%- do return(none if type == 'string' else text ~ ' is not null and ' ~ typed ~ ' is null') -%}
{% endmacro %}


{# Precision and scale of a decimal type. #}
{% macro _get_precision(type) %}
  {%- set numbers = modules.re.findall('[0-9]+', type) | map('int') | list -%}
  {%- do return((numbers + [10, 0])[:2] if not numbers else (numbers + [0])[:2]) -%}
{% endmacro %}


{# The dates and times that every ClickHouse holds: Date32 and DateTime64. #}
{% macro get_default_range(type) %}
  {%- do return({
      'date': ['1900-01-01', '2299-12-31'],
      'timestamp': ['1900-01-01 00:00:00Z', '2299-12-31 23:59:59.999999Z'],
  }.get(type)) -%}
{% endmacro %}
