{# The forms in which Debezium's events reach files, as one: an envelope with `op`, `before`, `after`, `source` and
   `transaction`. A line is known by what it says of itself:

   - what consumers and sinks put around the message: `key` and `value`, `kcat -J`, the columns of the console consumer,
     a message as a text within JSON
   - rows that ExtractNewRecordState has flattened, whose fields `__…` say what the envelope said
   - unions as Avro writes them in JSON: `{"string": "x"}`
   - documents of MongoDB, which come as a text
   - messages with a schema, which says how each value is encoded: dates become `2026-01-05`, decimals digits

   A plain envelope is passed on as it is. That is found by three searches of the line's text, because it is parsed
   later anyway. What cannot be read has a reason for an `op`, after an exclamation mark.

   The steps are functions of one array element each, so that no expression occurs twice in the SQL. #}
{% macro get_event_lines_sql(lines, columns, encodings, unavailable) -%}
  select
    *,
    transform(array({{ versioned_collapsing.get_json_line_sql('_raw_line') }}), _line -> if(
      {{ versioned_collapsing._get_is_plain_sql('_line') }},
      _line,
      transform(
        array(aggregate(
          array(1, 2, 3),
          _line,
          (_wrapped, _nth) -> {{ versioned_collapsing._get_unwrapped_sql('_wrapped') }}
        )),
        _message -> {{ versioned_collapsing._get_event_json_sql('_message', columns, encodings, unavailable) }}
      )[0]
    ))[0] as _json_text
  from ({{ lines }})
{%- endmacro %}


{% macro _get_is_plain_sql(line) -%}
  {{ line }} rlike r'^\s*+(?:\{\s*+"(?:before|after|op|source|transaction|ts_ms)"\s*+:|null|$)'
    and not contains({{ line }}, '"__')
    and not {{ line }} rlike r'"(?:before|after)"\s*+:\s*+(?:"|\{\s*+"[A-Za-z_]\w*+[.])'
    and not {{ line }} rlike r'"(?:updateDescription|patch)"\s*+:'
{%- endmacro %}


{# The message within what a consumer or a sink has put around it; the text itself if that is nothing known. #}
{% macro _get_unwrapped_sql(text) -%}
  {%- set around = versioned_collapsing.get_text_array_sql([
      'key', 'value', 'headers', 'topic', 'partition', 'offset', 'timestamp', 'timestampType', 'timestamp_type', 'ts',
      'tstype', 'broker', 'payload', 'key_schema_id', 'value_schema_id',
  ]) -%}
  {%- set before = 'CreateTime:\\d++|LogAppendTime:\\d++|NoTimestampType\\S*+|Partition:\\d++|Offset:\\d++|NO_HEADERS'
      ~ '|[^{}"\\[\\]\\t]*+|\\{[^\\t]*\\}|"[^"\\t]*+"' -%}
  transform(
    array(struct(
      json_object_keys({{ text }}) as names,
      {{ versioned_collapsing.get_members_sql(text, "array('')") }} as parts
    )),
    _around -> case
      when {{ text }} rlike r'^(?:(?:{{ before }})\t)+(?:\{|null\s*+$)'
        then regexp_extract({{ text }}, r'^(?:(?:{{ before }})\t)+((?s)(?:\{.*|null))', 1)
      when {{ text }} rlike r'^\s*+"' then coalesce(get_json_object(concat('[', {{ text }}, ']'), '$[0]'), {{ text }})
      when array_contains(_around.names, 'payload')
        and size(array_except(_around.names, array('schema', 'payload'))) = 0
        then if(
          _around.parts['payload'] = '' and left(trim(get_json_object({{ text }}, '$.payload')), 1) = '{',
          get_json_object({{ text }}, '$.payload'),
          {{ text }}
        )
      when size(_around.names) > 1
        and size(array_except(_around.names, {{ around }})) = 0
        and arrays_overlap(_around.names, array('key', 'topic'))
        and arrays_overlap(_around.names, array('value', 'payload'))
        then coalesce(
          nullif(_around.parts['value'], ''),
          nullif(_around.parts['payload'], ''),
          get_json_object({{ text }}, '$.value'),
          get_json_object({{ text }}, '$.payload'),
          'null'
        )
      else {{ text }}
    end
  )[0]
{%- endmacro %}


{# A message as an envelope. Its fields are in `texts`, and those that are nested in `parts`, as they stand on the
   line. #}
{% macro _get_event_json_sql(message, columns, encodings, unavailable) -%}
  {%- set kinds = [] -%}
  {%- for name, type in columns.items() if name not in encodings -%}
    {%- do kinds.append("'" ~ name ~ "', '" ~ versioned_collapsing.get_kind(type) ~ "'") -%}
  {%- endfor -%}
  transform(transform(transform(transform(
    array({{ versioned_collapsing._get_without_unions_sql(message) }}),
    _text -> struct(
      _text as text,
      array_contains(json_object_keys(_text), 'payload')
        and size(array_except(json_object_keys(_text), array('schema', 'payload'))) = 0 as is_wrapped,
      {{ versioned_collapsing.get_quoted_numbers_sql('_text') }} as quoted
    )),
    _read -> struct(
      _read.text,
      if(
        _read.is_wrapped,
        from_json(_read.quoted, 'struct<payload: map<string, string>>').payload,
        from_json(_read.quoted, 'map<string, string>')
      ) as texts,
      {{ versioned_collapsing.get_members_sql(
          '_read.text', "if(_read.is_wrapped, array('', 'payload'), array(''))"
      ) }} as parts,
      {{ versioned_collapsing._get_schema_fields_sql('_read.text') }} as fields,
      map({{ kinds | join(', ') or "'', ''" }}) as kinds
    )),
    _event -> struct(
      _event,
      exists(map_keys(_event.texts), _key -> startswith(_key, '__')) as is_flat,
      {{ versioned_collapsing._get_operation_sql() }} as op
    )),
    _known -> case
      when _known.op is null then _known._event.text
      when startswith(_known.op, '!')
        then concat('{"op":', {{ versioned_collapsing._get_json_text_sql('_known.op') }}, '}')
      else concat(
        '{"op":', {{ versioned_collapsing._get_json_text_sql('_known.op') }},
        ',"source":', if(
          _known.is_flat,
          {{ versioned_collapsing._get_flat_fields_sql("not startswith(_key, '__transaction_')") }},
          coalesce(nullif(_known._event.parts['source'], ''), 'null')
        ),
        ',"transaction":', if(
          _known.is_flat,
          {{ versioned_collapsing._get_flat_fields_sql("startswith(_key, '__transaction_')") }},
          coalesce(nullif(_known._event.parts['transaction'], ''), 'null')
        ),
        {{ versioned_collapsing._get_images_json_sql(columns, unavailable) }},
        '}'
      )
    end
  )[0]
{%- endmacro %}


{# The operation of a message that has to be written anew; null for others. Without `__deleted`, the deletes of a
   flattened stream are not in it. MongoDB sends an update without the document, unless it is told otherwise. #}
{% macro _get_operation_sql() -%}
  case
    when exists(map_keys(_event.texts), _key -> startswith(_key, '__')) then case _event.texts['__deleted']
      when 'true' then 'd'
      when 'false' then coalesce(nullif(_event.texts['__op'], 'd'), 'u')
      else '!__deleted is missing, without which a flattened stream has no deletes'
    end
    when _event.texts['op'] = 'u' and _event.texts['after'] is null
      and exists(map_keys(_event.texts), _key -> _key in ('updateDescription', 'patch'))
      then '!the update has no document, only what it changes'
    when size(_event.fields) > 0
      or exists(array('before', 'after'), _side -> _event.parts[_side] = '' and left(_event.texts[_side], 1) = '{')
      then _event.texts['op']
  end
{%- endmacro %}


{# The fields that a flattened row has of `source` or of `transaction`. Debezium names those of `source` with and without
   it: `__lsn`, `__source_ts_ms`. #}
{% macro _get_flat_fields_sql(condition) -%}
  concat('{', array_join(transform(
    filter(map_keys(_known._event.texts), _key -> startswith(_key, '__') and {{ condition }}),
    _key -> concat(
      {{ versioned_collapsing._get_json_text_sql("regexp_replace(_key, '^__(source_|transaction_)?', '')") }}, ':',
      {{ versioned_collapsing._get_json_text_sql('_known._event.texts[_key]') }}
    )
  ), ','), '}')
{%- endmacro %}


{# The rows before and after the change as JSON, with each value as the text that its column takes. A row of MongoDB has
   the fields of the document at its top, `id`, which is the `_id` there, and `document`, all of it. #}
{% macro _get_images_json_sql(columns, unavailable) -%}
  {%- set is_declared = 'array_contains(' ~ versioned_collapsing.get_text_array_sql(columns | list) ~ ', _name)'
      if 'document' in columns else "_name <> 'document'" -%}
  array_join(transform(
    transform(
      transform(array('before', 'after'), _side -> struct(
        _side as side,
        coalesce(nullif(_known._event.parts[_side], ''), _known._event.texts[_side]) as json
      )),
      _image -> struct(
        _image.side,
        _image.json,
        not _known.is_flat and _known._event.parts[_image.side] = '' as is_document,
        if(
          _known.is_flat,
          if((_known.op = 'd') = (_image.side = 'before'), _known._event.texts, null),
          from_json({{ versioned_collapsing.get_quoted_numbers_sql('_image.json') }}, 'map<string, string>')
        ) as texts,
        if(
          _known.is_flat,
          _known._event.parts,
          {{ versioned_collapsing.get_members_sql('_image.json', "array('')") }}
        ) as parts
      )
    ),
    _row -> concat(',"', _row.side, '":', if(_row.texts is null, 'null', concat('{', array_join(transform(
      filter(
        if(
          _row.is_document,
          array_distinct(concat(map_keys(_row.texts), array('id', 'document'))),
          map_keys(_row.texts)
        ),
        _name -> not startswith(_name, '__') and (not _row.is_document or (_name <> '_id' and {{ is_declared }}))
      ),
      _name -> concat(
        {{ versioned_collapsing._get_json_text_sql('_name') }}, ':',
        {{ versioned_collapsing._get_schema_value_sql(
            versioned_collapsing._get_given_value_sql(), '_known._event.fields[_name]', '_known._event.kinds[_name]',
            '_known._event.text', '_name', unavailable,
        ) }}
      )
    ), ','), '}')))
  ), '')
{%- endmacro %}


{# A value of a row. In a document, MongoDB writes a type as an object around the value: {"$oid": "…"}. #}
{% macro _get_given_value_sql() -%}
  {%- set types = 'oid|numberLong|numberInt|numberDouble|numberDecimal|uuid|symbol|date' -%}
  if(
    not _row.is_document,
    coalesce(nullif(_row.parts[_name], ''), _row.texts[_name]),
    transform(
      array(case
        when map_contains_key(_row.texts, _name) then coalesce(nullif(_row.parts[_name], ''), _row.texts[_name])
        when _name = 'id' then coalesce(nullif(_row.parts['_id'], ''), _row.texts['_id'])
        else _row.json
      end),
      _value -> case
        when _value rlike r'^\{\s*+"\$(?:{{ types }})"\s*+:\s*+"[^"]*+"\s*+\}$'
          then regexp_extract(_value, r':\s*+"([^"]*+)"\s*+\}$', 1)
        when _value rlike r'^\{\s*+"\$date"\s*+:' then concat(
          {{ versioned_collapsing.get_time_text_sql(
              "cast(regexp_extract(_value, '(-?[0-9]+)[^0-9]*$', 1) as decimal(20, 0)) * 1000000"
          ) }},
          'Z'
        )
        else _value
      end
    )[0]
  )
{%- endmacro %}


{# A text as JSON. #}
{% macro _get_json_text_sql(text) -%}
  coalesce(regexp_extract(to_json(array({{ text }})), r'^\[((?s).*)\]$', 1), 'null')
{%- endmacro %}


{# A message without the unions of Avro's JSON. Bytes stay as they are: their characters are no base64. #}
{% macro _get_without_unions_sql(message) -%}
  {%- set string = versioned_collapsing._get_json_string_pattern() -%}
  {%- set scalar -%}
    \{\s*+"(?:boolean|int|long|float|double|string)"\s*+:\s*+({{ string }}|[^"\[\]{},\s]++)\s*+\}
  {%- endset -%}
  {%- set nested -%}
    \{\s*+"(?:array|map|[A-Za-z_]\w*+(?:[.]\w++)+)"\s*+:\s*+({{ versioned_collapsing._get_json_value_pattern() }})\s*+\}
  {%- endset -%}
  if(
    {{ message }} rlike r'"(?:before|after)"\s*+:\s*+\{\s*+"[A-Za-z_]\w*+[.]',
    aggregate(
      array(1, 2),
      regexp_replace({{ message }}, r'{{ scalar }}', '$1'),
      (_with, _nth) -> regexp_replace(_with, r'{{ nested }}', '$1')
    ),
    {{ message }}
  )
{%- endmacro %}
