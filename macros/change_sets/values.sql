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
  {%- set encodings = versioned_collapsing._get_encodings() -%}
  {%- do return(encoding in encodings and type.startswith(encodings[encoding])) -%}
{% endmacro %}


{% macro get_encodings_text() %}
  {%- set texts = [] -%}
  {%- for encoding, type in versioned_collapsing._get_encodings().items() -%}
    {%- do texts.append(type ~ " takes '" ~ encoding ~ "'") -%}
  {%- endfor -%}
  {%- do return(texts | join(', ')) -%}
{% endmacro %}


{# The text of a field as a cast can read it; null for what Debezium left out, in a column that may lack it. #}
{% macro get_text_sql(field, type, encoding, is_toasted) %}
  {%- set text = field if not is_toasted else
      'if(' ~ field ~ ' in ' ~ versioned_collapsing.get_placeholders_sql() ~ ', null, ' ~ field ~ ')' -%}
  {%- do return(versioned_collapsing._get_precise_decimal_sql(text, versioned_collapsing._get_precision(type)[1]) if encoding == 'precise' else text) -%}
{% endmacro %}


{# What Debezium writes for a value that the database did not send, as text and as bytes. #}
{% macro get_placeholders_sql() %}
  {%- do return("('__debezium_unavailable_value', 'X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==')") -%}
{% endmacro %}


{% macro get_typed_sql(text, type, encoding) %}
  {%- set whole = "if(" ~ text ~ " rlike '^-?[0-9]+$', try_cast(" ~ text ~ " as bigint), null)" -%}
  {%- do return({
      'base64': "try_to_binary(" ~ text ~ ", 'base64')",
      'epoch_days': 'date_from_unix_date(try_cast(' ~ whole ~ ' as int))',
      'epoch_millis': 'timestamp_micros(try_multiply(' ~ whole ~ ', 1000L))',
      'epoch_micros': 'timestamp_micros(' ~ whole ~ ')',
      'epoch_nanos': "timestamp_micros(if(" ~ text ~ " rlike '^-?[0-9]+000$', try_cast(" ~ text ~ " as bigint) div 1000, null))",
  }.get(encoding, text if type == 'string' else 'try_cast(' ~ text ~ ' as ' ~ type ~ ')')) -%}
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
      transform(array(hex(try_to_binary({{ bytes }}, 'base64'))), digits -> case
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


{# The number of 32 hexadecimal digits; null above 38 decimal ones. #}
{% macro _get_unsigned_sql(digits) -%}
  try_add(
    try_multiply(cast(conv(substr({{ digits }}, 1, 16), 16, 10) as decimal(20, 0)), 18446744073709551616BD),
    cast(conv(substr({{ digits }}, 17, 16), 16, 10) as decimal(20, 0))
  )
{%- endmacro %}


{# The condition that text was lost in its cast; none where none is. A cast to an integer drops a fraction, one to a
   decimal or a timestamp digits, and one to a float may end in infinity. Numbers whose text has more digits after the
   point than the type, or an exponent, are compared with more digits than they have, as long as there are more. #}
{% macro get_misfit_sql(text, typed, type) %}
  {%- if type == 'string' -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set kind = modules.re.match('[a-z]*', type).group() -%}
  {%- set precision, scale = versioned_collapsing._get_precision(type) if kind == 'decimal' else (20, 0) -%}
  {%- set is_other_number = 'try_cast(' ~ text ~ ' as decimal(38, ' ~ (38 - precision + scale) ~ ')) <> ' ~ typed -%}
  {%- set loses = {
      'decimal': versioned_collapsing._get_long_fraction_sql(text, scale) ~ ' and ' ~ is_other_number if precision <= 32 else text ~ " rlike '[.][0-9]{" ~ scale ~ "}[0-9]*[1-9]'",
      'timestamp': "locate('.', " ~ text ~ ") > 0 and length(rtrim('Z', substring_index(" ~ text ~ ", '.', -1))) > 6 and " ~ text ~ " rlike '[.][0-9]{6}[0-9]*[1-9]'",
      'float': typed ~ " in (float('Infinity'), float('-Infinity')) and " ~ text ~ " not like '%Inf%'",
      'double': typed ~ " in (double('Infinity'), double('-Infinity')) and " ~ text ~ " not like '%Inf%'",
  }.get(kind, "locate('.', " ~ text ~ ') > 0 and ' ~ is_other_number if kind in ('tinyint', 'smallint', 'int', 'bigint') else none) -%}
  {%- do return(text ~ ' is not null and (' ~ typed ~ ' is null' ~ (' or (' ~ loses ~ ')' if loses else '') ~ ')') -%}
{% endmacro %}


{% macro _get_long_fraction_sql(text, scale) -%}
  (length(substring_index({{ text }}, '.', -1)) > {{ scale }} or {{ text }} like '%e%' or {{ text }} like '%E%')
{%- endmacro %}


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
