{# Why an envelope cannot be used, whatever its row is. A tombstone with a schema around it is not a problem, because it
   means nothing. Problems are pairs of a condition and a reason (an expression); see get_typed_lines_sql. #}
{% macro get_envelope_problems(ops) %}
  {%- set is_tombstone -%}
    _op is null
      and array_contains(json_object_keys(_json_line), 'payload')
      and size(array_except(json_object_keys(_json_line), array('schema', 'payload'))) = 0
      and get_json_object(_json_line, '$.payload') is null
  {%- endset -%}
  {%- do return([
      (is_tombstone, 'null'),
      ("startswith(_op, '!')", 'substr(_op, 2)'),
      ('_op is null', "'op is missing'"),
      ("_op not in ('" ~ ops | join("', '") ~ "')", "concat('unknown op ', _op)"),
      ("_op = 'd' and _before is null", "'before image is missing'"),
      ("_op in ('c', 'r', 'u') and _after is null", "'after image is missing'"),
      (
          "_source.connector in ('cassandra', 'yugabytedb') and " ~ versioned_collapsing._get_has_cells_sql(),
          "concat('each value of ', _source.connector, ' is an object with value and set')",
      ),
  ]) -%}
{% endmacro %}

{# Whether an image has objects in place of its values: `"name": {"value": "x", "set": true}`. A text column would store
   the object. https://debezium.io/documentation/reference/stable/connectors/cassandra.html#cassandra-events #}
{% macro _get_has_cells_sql() -%}
  _json_line rlike r'"(?:before|after)"\s*+:\s*+\{\s*+"[^"]++"\s*+:\s*+\{\s*+"(?:value|deletion_ts|set)"'
{%- endmacro %}

{# Lines as Debezium's envelopes: `_op`, `_before` and `_after` with their values as text, `_source` and `_transaction`
   with the fields that are needed, as text, and `_ignored`. If all columns of a row are read, the row is a map, which
   shows which fields it has. If only the columns in `before` are read from the row before, its other fields are
   ignored. If Debezium's converter sends a schema, it puts the envelope into `payload`. A row without an envelope may
   also have a column of that name; it then has a key next to it. #}
{% macro get_envelopes_sql(lines, key, before, columns, encodings, unavailable, tables=[]) -%}
  {%- set fields = ['op', 'before', 'after', 'source', 'transaction'] -%}
  {%- set reads_all_before = before | length == columns | length -%}
  {%- set envelope = 'op: string, before: '
      ~ ('map<string, string>' if reads_all_before else 'struct<' ~ versioned_collapsing._get_text_fields(before) ~ '>')
      ~ ', after: map<string, string>, source: struct<'
      ~ versioned_collapsing._get_text_fields(versioned_collapsing.get_source_fields())
      ~ '>, transaction: struct<total_order: string>' -%}
  {%- set row_fields = [] -%}
  {%- for name in key if name | lower not in fields + ['payload', 'schema', '__deleted'] -%}
    {%- do row_fields.append(name) -%}
  {%- endfor -%}
  {%- set object = 'struct<' ~ envelope ~ ', payload: struct<' ~ envelope ~ '>'
      ~ (', ' ~ versioned_collapsing._get_text_fields(row_fields) if row_fields else '')
      ~ ', schema: string, __deleted: string, _dbt_end: string>' -%}
  {#- The paths to each column, with and without `payload`. -#}
  {%- set paths = {} -%}
  {%- for name in versioned_collapsing.get_exact_columns(columns) -%}
    {%- set rows = ['.before', '.payload.before'] if name in before else [] -%}
    {%- do paths.update({name: versioned_collapsing.get_texts(
        "{}['" ~ name ~ "']", rows + ['.after', '.payload.after']
    )}) -%}
  {%- endfor -%}
  {%- set is_wrapped = versioned_collapsing.get_texts('_value.{} is null', ['op', 'before', 'after'] + row_fields) -%}
  select
    *,
    {{ versioned_collapsing._get_ignored_sql(columns, tables) }} as _ignored
  from (
    select
      *,
      {%- for field in fields %}
      if(_is_wrapped, _value.payload.{{ field }}, _value.{{ field }}) as _{{ field }}{{ ',' if not loop.last }}
      {%- endfor %}
    from (
      select *, {{ is_wrapped | join(' and ') }} as _is_wrapped
      from (
        {{ versioned_collapsing.get_parsed_lines_sql(
            versioned_collapsing.get_event_lines_sql(lines, object, key, columns, encodings, unavailable),
            object, paths,
        ) }}
      )
    )
  )
{%- endmacro %}

{# These fields, each as the text of its value. #}
{% macro _get_text_fields(names) %}
  {%- do return('`' ~ names | join('`: string, `') ~ '`: string') -%}
{% endmacro %}

{# The name of a message that Debezium sends besides row changes, and that does not concern this table. A line without
   an operation is recognised by its fields, all of which must be fields of the message. Such a line is read again, but
   there are few of them. #}
{% macro _get_ignored_sql(columns, tables) -%}
  {%- set message -%}
    if(
      size(array_except(json_object_keys(_json_line), array('schema', 'payload'))) = 0,
      get_json_object(_json_line, '$.payload'),
      _json_line
    )
  {%- endset -%}
  {%- set times = ['ts_ms', 'ts_us', 'ts_ns'] -%}
  {%- set of_transaction = ['status', 'id', 'event_count', 'data_collections'] + times -%}
  {%- set of_schema = ['source', 'databaseName', 'schemaName', 'ddl', 'tableChanges'] + times -%}
  case
    when _json_line = 'null' and not {{ versioned_collapsing.get_is_blank_sql('_raw_line') }} then 'tombstone'
    when _op = 'm' then 'message'
    {%- if tables %}
    when not {{ versioned_collapsing.get_is_of_table_sql(tables) }}
      then concat('table ', {{ versioned_collapsing.get_source_table_sql() }})
    {%- endif %}
    when _op is not null or not _is_json then null
    else element_at(transform(array(json_object_keys({{ message }})), _fields -> case
      {%- if times | select('in', columns) | list | length == 0 %}
      when array_contains(_fields, 'ts_ms')
        and size(array_except(_fields, {{ versioned_collapsing.get_text_array_sql(times) }})) = 0
        then 'heartbeat'
      {%- endif %}
      when array_contains(_fields, 'event_count') and array_contains(_fields, 'data_collections')
        and size(array_except(_fields, {{ versioned_collapsing.get_text_array_sql(of_transaction) }})) = 0
        and get_json_object({{ message }}, '$.status') in ('BEGIN', 'END')
        then 'transaction'
      when array_contains(_fields, 'ddl') and array_contains(_fields, 'databaseName')
        and size(array_except(_fields, {{ versioned_collapsing.get_text_array_sql(of_schema) }})) = 0
        then 'schema change'
    end), 1)
  end
{%- endmacro %}

{# Whether an event is of one of the tables, given by name, by schema and name, or by a pattern with `*`; null if the
   event does not name its table. #}
{% macro get_is_of_table_sql(tables) %}
  {%- set patterns = [] -%}
  {%- for table in tables -%}
    {%- set pattern = modules.re.escape(table) | replace('\\*', '[^.]*') -%}
    {%- do patterns.append(pattern if '.' in table else '(?:[^.]*[.])?' ~ pattern) -%}
  {%- endfor -%}
  {%- do return(
      versioned_collapsing.get_source_table_sql() ~ " rlike r'^(?:" ~ patterns | join('|') ~ ")$'"
  ) -%}
{% endmacro %}

{# The table of an event, qualified by its schema, or by its database if there are no schemas; null if the event does
   not name it. #}
{% macro get_source_table_sql() %}
  {%- set table = "coalesce(nullif(_source.table, ''), _source.collection)" -%}
  {%- do return(
      'if(' ~ table ~ " is null, null, concat_ws('.', coalesce(nullif(_source.schema, ''), nullif(_source.db, '')), "
      ~ table ~ '))'
  ) -%}
{% endmacro %}

{# The forms in which Debezium's events reach files, as one: an envelope with `op`, `before`, `after`, `source` and
   `transaction`. A line is known by what it says of itself:

   - what consumers and sinks put around the message: `key` and `value`, `kcat -J`, the columns of the console consumer,
     a message as a text within JSON
   - rows that ExtractNewRecordState has flattened, whose fields `__…` say what the envelope said
   - unions as Avro writes them in JSON: `{"string": "x"}`
   - documents of MongoDB, which come as a text
   - messages with a schema, which says how each value is encoded: dates become `2026-01-05`, decimals digits

   Each line is parsed as it is, which shows most envelopes. The text of another line is searched, and rewritten if it
   has one of the other forms. What cannot be read has a reason for an `op`, after an exclamation mark.

   The steps are functions of one array element each, so that no expression occurs twice in the SQL. #}
{% macro get_event_lines_sql(lines, object, key, columns, encodings, unavailable) -%}
  select
    *,
    if(_is_plain, _as_it_is, {{ versioned_collapsing.get_json_values_sql('_json_line', object) }}) as _parsed
  from (
    select
      *,
      if(
        _is_plain,
        _text,
        /* other forms */
        transform(
          array(aggregate(
            array(1, 2, 3),
            _text,
            (_wrapped, _nth) -> {{ versioned_collapsing._get_unwrapped_sql('_wrapped') }}
          )),
          _message -> {{ versioned_collapsing._get_event_json_sql('_message', columns, encodings, unavailable) }}
        )[0]
        /* end of other forms */
      ) as _json_line
    from (
      select
        *,
        {{ versioned_collapsing._get_is_envelope_sql('_as_it_is', key) }}
          or {{ versioned_collapsing.get_has_no_other_form_sql('_text') }} as _is_plain
      from (
        select *, {{ versioned_collapsing.get_json_values_sql('_text', object) }} as _as_it_is
        from (select *, {{ versioned_collapsing.get_json_line_sql('_raw_line') }} as _text from ({{ lines }}))
      )
    )
  )
{%- endmacro %}

{# The SQL of a parser, if a view's query is that and no more: what is around it might leave out lines. Else none, as
   for a view that an earlier version of this package made. #}
{% macro get_parser_sql(query) %}
  {%- set comment = '(?:\\s|/\\*(?! all lines )(?:(?!\\*/).)*\\*/)*' -%}
  {%- set parsers = modules.re.findall(
      '(?s)^' ~ comment ~ '(/\\* all lines \\*/.*/\\* end of all lines \\*/)' ~ comment ~ '$', query
  ) -%}
  {%- set is_one = parsers and parsers[0].count('/* all lines */') == 1 and parsers[0].count('/* lines */') == 1 -%}
  {%- do return(parsers[0] if is_one else none) -%}
{% endmacro %}

{# The SQL of a parser without what reads other forms than plain envelopes, see get_is_other_form_sql. None if there is
   nothing of the kind. #}
{% macro get_sql_of_plain_envelopes(parser) %}
  {%- set plain, times = modules.re.subn(
      '(?s)/\\* other forms \\*/.*?/\\* end of other forms \\*/', "'{\"op\":\"!another form\"}'", parser
  ) -%}
  {%- do return(plain if times else none) -%}
{% endmacro %}

{# The lines that a parser reads, and its SQL for other lines in their place, which have a `_line_id`. #}
{% macro get_lines_of_parser(parser) %}
  {%- do return(modules.re.findall('(?s)/\\* lines \\*/(.*)/\\* end of lines \\*/', parser)[0]) -%}
{% endmacro %}

{% macro get_parser_of_lines(parser, lines) %}
  {%- set before, after = parser.split('/* lines */')[0], parser.split('/* end of lines */')[1] -%}
  {%- do return((before ~ lines ~ after) | replace('/* _line_id, */', '_line_id,')) -%}
{% endmacro %}

{# Whether a parser of a part of the forms leaves a line. #}
{% macro get_is_other_form_sql() -%}
  _reason <=> 'another form'
{%- endmacro %}

{# Whether the values of a line show that it is a plain envelope. A flattened row has `__deleted`, and a message with a
   schema has `schema`. MongoDB sends a document as a text, so that `after` is null here. In Avro's JSON, an image has
   one field, named after its type. A truncate has no image: get_has_no_other_form_sql looks at its text. #}
{% macro _get_is_envelope_sql(values, key) -%}
  coalesce(
    {{ versioned_collapsing.get_is_json_sql(values) }}
      and {{ values }}[0].source.connector is not null
      and {{ values }}[0].schema is null
      and {{ values }}[0].__deleted is null
      and case
        when {{ values }}[0].op in ('c', 'r', 'u') then {{ values }}[0].after is not null
          and not contains(get(map_keys({{ values }}[0].after), 0), '.')
        when {{ values }}[0].op = 'd' then {{ values }}[0].before['{{ key[0] }}'] is not null
      end,
    false
  )
{%- endmacro %}

{# Whether the text of a line shows that it has none of the other forms. The console consumer puts a tab between key and
   message. Only the objects at `ts_ms` and `snapshot` tell a truncate in Avro's JSON from a plain one. #}
{% macro get_has_no_other_form_sql(line) -%}
  {{ line }} rlike r'^\s*+(?:\{\s*+"(?:before|after|op|source|transaction|ts_ms)"\s*+:|(?:null\s*+)?$)'
        and not contains({{ line }}, '\t')
        and not {{ line }} rlike r'"__[^"]*+"\s*+:'
        and not {{ line }} rlike r'"(?:before|after)"\s*+:\s*+(?:"|\{\s*+"[A-Za-z_]\w*+[.])'
        and not {{ line }} rlike r'"(?:updateDescription|patch)"\s*+:'
        and not {{ line }} rlike r'"(?:ts_ms|snapshot)"\s*+:\s*+\{'
{%- endmacro %}

{# The message inside the wrapping of a consumer or a sink; the text itself if the wrapping is unknown. #}
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

{# A message as an envelope. Its fields are in `texts`, and nested ones in `parts`, as they are written on the line. #}
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
      _read.text as text,
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
      _event as event,
      exists(map_keys(_event.texts), _key -> startswith(_key, '__')) as is_flat,
      {{ versioned_collapsing._get_operation_sql() }} as op
    )),
    _known -> case
      when _known.op is null then _known.event.text
      when startswith(_known.op, '!')
        then concat('{"op":', {{ versioned_collapsing._get_json_text_sql('_known.op') }}, '}')
      else concat(
        '{"op":', {{ versioned_collapsing._get_json_text_sql('_known.op') }},
        ',"source":', if(
          _known.is_flat,
          {{ versioned_collapsing._get_flat_fields_sql("not startswith(_key, '__transaction_')") }},
          coalesce(nullif(_known.event.parts['source'], ''), 'null')
        ),
        ',"transaction":', if(
          _known.is_flat,
          {{ versioned_collapsing._get_flat_fields_sql("startswith(_key, '__transaction_')") }},
          coalesce(nullif(_known.event.parts['transaction'], ''), 'null')
        ),
        {{ versioned_collapsing._get_images_json_sql(columns, unavailable) }},
        '}'
      )
    end
  )[0]
{%- endmacro %}

{# A message without the unions of Avro's JSON. Bytes stay as they are: their characters are no base64. An image names
   its type. A truncate has no image, and so no value that looks like a union and is none. #}
{% macro _get_without_unions_sql(message) -%}
  {%- set string = versioned_collapsing.get_json_string_pattern() -%}
  {%- set scalar -%}
    \{\s*+"(?:boolean|int|long|float|double|string)"\s*+:\s*+({{ string }}|[^"\[\]{},\s]++)\s*+\}
  {%- endset -%}
  {%- set nested -%}
    \{\s*+"(?:array|map|[A-Za-z_]\w*+(?:[.]\w++)+)"\s*+:\s*+({{ versioned_collapsing.get_json_value_pattern() }})\s*+\}
  {%- endset -%}
  if(
    {{ message }} rlike r'"(?:before|after)"\s*+:\s*+\{\s*+"[A-Za-z_]\w*+[.]'
      or {{ message }} rlike r'"(?:ts_ms|snapshot)"\s*+:\s*+\{\s*+"(?:long|string)"'
        and {{ message }} rlike r'"(?:before|after)"\s*+:\s*+null'
        and not {{ message }} rlike r'"(?:before|after)"\s*+:\s*+[^n\s]',
    aggregate(
      array(1, 2),
      regexp_replace({{ message }}, r'{{ scalar }}', '$1'),
      (_with, _nth) -> regexp_replace(_with, r'{{ nested }}', '$1')
    ),
    {{ message }}
  )
{%- endmacro %}

{# What the schema around a message says about the fields of its row, by name; an empty map without a schema. In an
   envelope, the row is the field `after` (or `before`); a flattened row has no such field. #}
{% macro _get_schema_fields_sql(message) -%}
  {%- set field = 'field: string, type: string, name: string, parameters: struct<scale: string, length: string>' -%}
  transform(
    array(from_json(
      get_json_object({{ message }}, '$.schema'),
      'struct<fields: array<struct<{{ field }}, fields: array<struct<{{ field }}>>>>>'
    ).fields),
    _fields -> coalesce(
      map_from_entries(transform(
        array_distinct(coalesce(
          get(filter(_fields, _field -> _field.field in ('before', 'after') and _field.fields is not null), 0).fields,
          transform(_fields, _field -> struct(
            _field.field as field, _field.type as type, _field.name as name, _field.parameters as parameters
          ))
        )),
        _field -> struct(_field.field as key, _field as value)
      )),
      cast(map() as map<string, struct<{{ field }}>>)
    )
  )[0]
{%- endmacro %}

{# The operation of a message that must be rewritten; null for others. Without `__deleted`, a flattened stream lacks its
   deletes. MongoDB sends an update without the document, unless configured otherwise. #}
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

{% macro _get_json_text_sql(text) -%}
  coalesce(regexp_extract(to_json(array({{ text }})), r'^\[((?s).*)\]$', 1), 'null')
{%- endmacro %}

{# The fields of `source` or of `transaction` that a flattened row has. Debezium names those of `source` with or without
   the prefix: `__lsn`, `__source_ts_ms`. #}
{% macro _get_flat_fields_sql(condition) -%}
  concat('{', array_join(transform(
    filter(map_keys(_known.event.texts), _key -> startswith(_key, '__') and {{ condition }}),
    _key -> concat(
      {{ versioned_collapsing._get_json_text_sql("regexp_replace(_key, '^__(source_|transaction_)?', '')") }}, ':',
      {{ versioned_collapsing._get_json_text_sql('_known.event.texts[_key]') }}
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
        coalesce(nullif(_known.event.parts[_side], ''), _known.event.texts[_side]) as json
      )),
      _image -> struct(
        _image.side as side,
        if(_known.is_flat, get_json_object(_known.event.text, '$.payload'), _image.json) as json,
        not _known.is_flat and _known.event.parts[_image.side] = '' as is_document,
        if(
          _known.is_flat,
          if((_known.op = 'd') = (_image.side = 'before'), _known.event.texts, null),
          from_json({{ versioned_collapsing.get_quoted_numbers_sql('_image.json') }}, 'map<string, string>')
        ) as texts,
        if(
          _known.is_flat,
          _known.event.parts,
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
            versioned_collapsing._get_given_value_sql(), '_known.event.fields[_name]', '_known.event.kinds[_name]',
            "if(map_contains_key(_known.event.parts, '\"'), _known.event.text, _row.json)", '_name', unavailable,
        ) }}
      )
    ), ','), '}')))
  ), '')
{%- endmacro %}

{# A value as JSON, in the text that its column takes, according to the schema. `kind` is null if the column itself says
   how it is encoded, or is not read. Columns of integers get days and fractions of seconds unchanged. A value that
   contradicts the schema stays unchanged, and then does not fit its column. `json` is the row as it came, which shows
   whether a decimal is a number there.

   https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-data-types lists the types;
   the others are Kafka Connect's, from org.apache.kafka.connect.data. #}
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
    if(
      {{ kind }} = 'string' and _value.semantic like '%Decimal',
      {{ versioned_collapsing.quote_literal(unavailable) }},
      _value.given
    )
  {%- endset -%}
  transform(
    array(struct(
      {{ value }} as given,
      regexp_extract(coalesce({{ field }}.name, ''), '([A-Za-z]+)$', 1) as semantic
    )),
    _found -> transform(
      array(struct(
        _found.given as given,
        _found.semantic as semantic,
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
      ~ ".parameters.scale as int), 0)" -%}
  transform(
    array({{ versioned_collapsing.get_precise_decimal_sql(given, scale) }}),
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

{# Bits, which come as bytes with the highest byte last: a number for numeric columns, and ones and zeros for text. #}
{% macro _get_bits_sql(given, field, kind) -%}
  transform(
    array(hex(try_to_binary({{ given }}, 'base64'))),
    _hex -> transform(
      array(if(_hex = '', '', array_join(transform(
        sequence(cast(length(_hex) / 2 as int), 1, -1),
        _byte -> lpad(conv(substr(_hex, 2 * _byte - 1, 2), 16, 2), 8, '0')
      ), ''))),
      _bits -> if(
        {{ kind }} in ('tinyint', 'smallint', 'int', 'bigint', 'decimal', 'boolean'),
        conv(_bits, 2, 10),
        right(_bits, coalesce(try_cast({{ field }}.parameters.length as int), length(_bits)))
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

{# Nanoseconds as a time: 10:30:00, 10:30:00.000001. MySQL has times below 0 and above a day. #}
{% macro _get_clock_sql(nanos) -%}
  transform(array(cast(abs({{ nanos }}) as bigint)), _nanos -> concat(
    if({{ nanos }} < 0, '-', ''),
    if(_nanos < 36000000000000, '0', ''), cast(_nanos div 3600000000000 as string), ':',
    lpad(cast(_nanos div 60000000000 % 60 as string), 2, '0'), ':',
    lpad(cast(_nanos div 1000000000 % 60 as string), 2, '0'),
    case
      when _nanos % 1000000000 = 0 then ''
      when _nanos % 1000 = 0 then concat('.', lpad(cast(_nanos div 1000 % 1000000 as string), 6, '0'))
      else concat('.', lpad(cast(_nanos % 1000000000 as string), 9, '0'))
    end
  ))[0]
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

{# The names on the path to the row that `name` means. #}
{% macro get_path_sql(name) -%}
  if(_is_wrapped, array('', 'payload', {{ name }}), array('', {{ name }}))
{%- endmacro %}
