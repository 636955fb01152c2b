{# What the schema around a message says of the fields of its row, by name: an empty map without a schema. Of an
   envelope, the row is the field `after` (or `before`); a flattened row has no such field. #}
{% macro _get_schema_fields_sql(message) -%}
  {%- set field = 'field: string, type: string, name: string, parameters: map<string, string>' -%}
  transform(
    array(from_json(
      get_json_object({{ message }}, '$.schema'),
      'struct<fields: array<struct<{{ field }}, fields: array<struct<{{ field }}>>>>>'
    ).fields),
    _fields -> coalesce(
      map_from_entries(transform(
        array_distinct(coalesce(
          filter(_fields, _field -> _field.field in ('before', 'after') and _field.fields is not null)[0].fields,
          transform(_fields, _field -> struct(_field.field, _field.type, _field.name, _field.parameters))
        )),
        _field -> struct(_field.field, _field)
      )),
      cast(map() as map<string, struct<{{ field }}>>)
    )
  )[0]
{%- endmacro %}


{# A value as JSON, in the text that its column takes, by what the schema says of it. `kind` is null if the column says
   itself how it is encoded, or is not read. Columns of integers get days and fractions of seconds as they are. A value
   that is not what the schema says stays as it is, and then does not fit its column.

   https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-data-types has the types;
   the others are Kafka Connect's, of org.apache.kafka.connect.data. #}
{% macro _get_schema_value_sql(value, field, kind, json, name, unavailable) -%}
  {%- set text -%}
    case
      when _value.given in ({{ versioned_collapsing.get_placeholders_sql(unavailable) }}) then _value.given
      when _value.semantic in ('Decimal', 'VariableScaleDecimal') then if(
        {{ json }} rlike concat('"', {{ name }}, r'"\s*+:\s*+-?[0-9]'),
        _value.given,
        nullif({{ versioned_collapsing._get_plain_decimal_sql('_value.given', field) }}, 'no decimal')
      )
      when _value.semantic = 'Bits' then {{ versioned_collapsing._get_bits_sql('_value.given', field, kind) }}
      when {{ kind }} in ('tinyint', 'smallint', 'int', 'bigint', 'decimal') or not _value.given rlike '^-?[0-9]+$'
        then _value.given
      when _value.semantic = 'Date' then cast(date_from_unix_date(try_cast(_value.given as int)) as string)
      when _value.semantic in ('Timestamp', 'MicroTimestamp', 'NanoTimestamp') then concat(
        {{ versioned_collapsing.get_time_text_sql('_value.nanos') }}, if({{ kind }} = 'timestamp', 'Z', '')
      )
      when _value.semantic in ('Time', 'MicroTime', 'NanoTime')
        then {{ versioned_collapsing._get_clock_sql('_value.nanos') }}
    end
  {%- endset -%}
  {%- set left -%}
    if({{ kind }} = 'string' and _value.semantic like '%Decimal', {{ versioned_collapsing.quote_literal(unavailable) }}, _value.given)
  {%- endset -%}
  transform(
    array(struct(
      {{ value }} as given,
      regexp_extract(coalesce({{ field }}.name, ''), '([A-Za-z]+)$', 1) as semantic
    )),
    _found -> transform(
      array(struct(
        _found.given,
        _found.semantic,
        cast(try_cast(_found.given as bigint) as decimal(20, 0)) * case
          when _found.semantic like 'Micro%' then 1000
          when _found.semantic like 'Nano%' then 1
          else 1000000
        end as nanos
      )),
      _value -> {{ versioned_collapsing._get_json_text_sql(
          'if(' ~ kind ~ ' is null or ' ~ field ~ ' is null, _value.given, coalesce(' ~ text ~ ', ' ~ left ~ '))'
      ) }}
    )[0]
  )[0]
{%- endmacro %}


{# The decimal that Debezium writes as bytes, in digits, with the scale of the schema or its own. #}
{% macro _get_plain_decimal_sql(given, field) -%}
  {%- set scale = "coalesce(try_cast(get_json_object(" ~ given ~ ", '$.scale') as int), try_cast(" ~ field
      ~ ".parameters['scale'] as int), 0)" -%}
  transform(
    array({{ versioned_collapsing._get_precise_decimal_sql(given, scale) }}),
    _number -> if(_number rlike '^-?[0-9]+E-?[0-9]+$', transform(
      array(struct(
        regexp_extract(_number, '^-?', 0) as sign,
        regexp_extract(_number, '^-?([0-9]+)', 1) as digits,
        -cast(substring_index(_number, 'E', -1) as int) as scale
      )),
      _parts -> if(
        _parts.scale <= 0,
        concat(_parts.sign, _parts.digits, repeat('0', -_parts.scale)),
        concat(
          _parts.sign,
          regexp_replace(
            lpad(_parts.digits, greatest(length(_parts.digits), _parts.scale + 1), '0'),
            concat('([0-9]{', _parts.scale, '})$'),
            '.$1'
          )
        )
      )
    )[0], _number)
  )[0]
{%- endmacro %}


{# Bits, which come as bytes of which the last one is the highest: a number for columns of numbers, and ones and zeros
   for text. #}
{% macro _get_bits_sql(given, field, kind) -%}
  transform(
    array(hex(try_to_binary({{ given }}, 'base64'))),
    _hex -> transform(
      array(array_join(transform(
        sequence(length(_hex) div 2, 1, -1),
        _byte -> lpad(conv(substr(_hex, 2 * _byte - 1, 2), 16, 2), 8, '0')
      ), '')),
      _bits -> if(
        {{ kind }} in ('tinyint', 'smallint', 'int', 'bigint', 'decimal', 'boolean'),
        conv(_bits, 2, 10),
        right(_bits, coalesce(try_cast({{ field }}.parameters['length'] as int), length(_bits)))
      )
    )[0]
  )[0]
{%- endmacro %}


{# Nanoseconds since 1970 as a day and a time. #}
{% macro get_time_text_sql(nanos) -%}
  transform(array(pmod({{ nanos }}, 86400000000000BD)), _of_day -> concat(
    cast(date_from_unix_date(try_cast(({{ nanos }} - _of_day) / 86400000000000BD as int)) as string),
    'T',
    {{ versioned_collapsing._get_clock_sql('_of_day') }}
  ))[0]
{%- endmacro %}


{# Nanoseconds of a day as a time: 10:30:00, 10:30:00.000001. #}
{% macro _get_clock_sql(nanos) -%}
  transform(array(cast({{ nanos }} as bigint)), _nanos -> concat(
    lpad(cast(_nanos div 3600000000000 as string), 2, '0'), ':',
    lpad(cast(_nanos div 60000000000 % 60 as string), 2, '0'), ':',
    lpad(cast(_nanos div 1000000000 % 60 as string), 2, '0'),
    case
      when _nanos % 1000000000 = 0 then ''
      when _nanos % 1000 = 0 then concat('.', lpad(cast(_nanos div 1000 % 1000000 as string), 6, '0'))
      else concat('.', lpad(cast(_nanos % 1000000000 as string), 9, '0'))
    end
  ))[0]
{%- endmacro %}
