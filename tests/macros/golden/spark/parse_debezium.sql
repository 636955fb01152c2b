/* all lines */
  /* template {"key": ["id"], "columns": {"id": "bigint", "amount": "decimal(12,2)", "at": "timestamp"}, "required": ["amount"], "version": null, "servers": [], "epochs": [], "encodings": {}, "ranges": {}, "toasted": [], "unavailable_value": "__debezium_unavailable_value", "tables": []} */
  with images as (
    select
    *,
    case
    when _json_line = 'null' and not _raw_line rlike r'^[\s\uFEFF]*+(?:null)?[\s\uFEFF]*+$' then 'tombstone'
    when _op = 'm' then 'message'
    when _op is not null or not _is_json then null
    else element_at(transform(array(json_object_keys(if(
      size(array_except(json_object_keys(_json_line), array('schema', 'payload'))) = 0,
      get_json_object(_json_line, '$.payload'),
      _json_line
    ))), _fields -> case
      when array_contains(_fields, 'ts_ms')
        and size(array_except(_fields, array('ts_ms', 'ts_us', 'ts_ns'))) = 0
        then 'heartbeat'
      when array_contains(_fields, 'event_count') and array_contains(_fields, 'data_collections')
        and size(array_except(_fields, array('status', 'id', 'event_count', 'data_collections', 'ts_ms', 'ts_us', 'ts_ns'))) = 0
        and get_json_object(if(
      size(array_except(json_object_keys(_json_line), array('schema', 'payload'))) = 0,
      get_json_object(_json_line, '$.payload'),
      _json_line
    ), '$.status') in ('BEGIN', 'END')
        then 'transaction'
      when array_contains(_fields, 'ddl') and array_contains(_fields, 'databaseName')
        and size(array_except(_fields, array('source', 'databaseName', 'schemaName', 'ddl', 'tableChanges', 'ts_ms', 'ts_us', 'ts_ns'))) = 0
        then 'schema change'
    end), 1)
  end as _ignored
  from (
    select
      *,
      if(_is_wrapped, _value.payload.op, _value.op) as _op,
      if(_is_wrapped, _value.payload.before, _value.before) as _before,
      if(_is_wrapped, _value.payload.after, _value.after) as _after,
      if(_is_wrapped, _value.payload.source, _value.source) as _source,
      if(_is_wrapped, _value.payload.transaction, _value.transaction) as _transaction
    from (
      select *, _value.op is null and _value.before is null and _value.after is null and _value.id is null as _is_wrapped
      from (
        select
    *,
    _values[0] as _value,
    coalesce(size(_values) = 2 and _values[1]['_dbt_end'] = 'true' and _values[0] is not null, false) as _is_json
  from (
    select *, if(
    not coalesce(size(_parsed) = 2 and _parsed[1]['_dbt_end'] = 'true' and _parsed[0] is not null, false)
    or (coalesce(_parsed[0].after['amount'] < ':', false) or coalesce(_parsed[0].payload.after['amount'] < ':', false))
      and (contains(_json_line, r'\u') or _json_line rlike r'"amount"\s*+:\s*+(?:-?[0-9]++[.eE]|-0|[-+]?[IN]|-?[0-9]{400})'),
    from_json(
    concat('[', if(
    _json_line rlike r'"\s*+:\s*+(?:-?[0-9]++[.eE]|-0|[-+]?[IN]|-?[0-9]{400})',
    regexp_replace(
      _json_line,
      r'\G((?:[^"0-9+\-IN]++|"(?:[^"\\]++|\\.)*+")*+)(-?(?:0|[1-9][0-9]*+)(?:[.][0-9]++)?+(?:[eE][+\-]?[0-9]++)?+|[+\-]?Infinity|NaN)(?=[\s,\]}])',
      r'$1"$2"'
    ),
    _json_line
  ), ',{"_dbt_end":true}]'),
    'array<struct<op: string, before: struct<`id`: string>, after: map<string, string>, source: struct<`connector`: string, `db`: string, `schema`: string, `table`: string, `collection`: string, `ts_ms`: string, `sequence`: string, `lsn`: string, `commit_lsn`: string, `change_lsn`: string, `event_serial_no`: string, `file`: string, `pos`: string, `row`: string, `gtid`: string, `ord`: string, `scn`: string, `commit_scn`: string, `rs_id`: string, `ssn`: string>, transaction: struct<total_order: string>, payload: struct<op: string, before: struct<`id`: string>, after: map<string, string>, source: struct<`connector`: string, `db`: string, `schema`: string, `table`: string, `collection`: string, `ts_ms`: string, `sequence`: string, `lsn`: string, `commit_lsn`: string, `change_lsn`: string, `event_serial_no`: string, `file`: string, `pos`: string, `row`: string, `gtid`: string, `ord`: string, `scn`: string, `commit_scn`: string, `rs_id`: string, `ssn`: string>, transaction: struct<total_order: string>>, `id`: string, schema: string, __deleted: string, _dbt_end: string>>',
    map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false', 'maxStringLen', '2147483647', 'maxNumLen', '2147483647', 'maxNestingDepth', '900')
  ),
    _parsed
  ) as _exact
    from (select
    *,
    if(_is_plain, _as_it_is, from_json(
    concat('[', _json_line, ',{"_dbt_end":true}]'),
    'array<struct<op: string, before: struct<`id`: string>, after: map<string, string>, source: struct<`connector`: string, `db`: string, `schema`: string, `table`: string, `collection`: string, `ts_ms`: string, `sequence`: string, `lsn`: string, `commit_lsn`: string, `change_lsn`: string, `event_serial_no`: string, `file`: string, `pos`: string, `row`: string, `gtid`: string, `ord`: string, `scn`: string, `commit_scn`: string, `rs_id`: string, `ssn`: string>, transaction: struct<total_order: string>, payload: struct<op: string, before: struct<`id`: string>, after: map<string, string>, source: struct<`connector`: string, `db`: string, `schema`: string, `table`: string, `collection`: string, `ts_ms`: string, `sequence`: string, `lsn`: string, `commit_lsn`: string, `change_lsn`: string, `event_serial_no`: string, `file`: string, `pos`: string, `row`: string, `gtid`: string, `ord`: string, `scn`: string, `commit_scn`: string, `rs_id`: string, `ssn`: string>, transaction: struct<total_order: string>>, `id`: string, schema: string, __deleted: string, _dbt_end: string>>',
    map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false', 'maxStringLen', '2147483647', 'maxNumLen', '2147483647', 'maxNestingDepth', '900')
  )) as _parsed
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
            (_wrapped, _nth) -> transform(
    array(struct(
      json_object_keys(_wrapped) as names,
      coalesce(aggregate(array(''), map('', _wrapped), (found, name) -> transform(
    transform(
      array(regexp_extract_all(found[name], r'\G\s*+[{,]\s*+("(?:[^"\\]++|\\.)*+"\s*+:\s*+(?:[^"\[\]{},\s]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}]))(?=\s*+[,}])', 1)),
      members -> struct(
        transform(members, member -> regexp_extract(member, r'^"((?:[^"\\]++|\\.)*+)"', 1)) as names,
        transform(members, member -> regexp_extract(member, r'^"(?:[^"\\]++|\\.)*+"\s*+:\s*+([\[{](?s).*+)?', 1)) as texts
      )
    ),
    row -> if(
      size(row.names) = size(json_object_keys(regexp_replace(found[name], r':\s*+[+\-]?+(Infinity|NaN)', ':0')))
        and size(array_distinct(row.names)) = size(row.names)
        and not contains(array_join(row.names, ''), r'\'),
      map_from_arrays(row.names, row.texts),
      null
    )
  )[0]), map('"', '')) as parts
    )),
    _around -> case
      when _wrapped rlike r'^(?:(?:CreateTime:\d++|LogAppendTime:\d++|NoTimestampType\S*+|Partition:\d++|Offset:\d++|NO_HEADERS|[^{}"\[\]\t]*+|\{[^\t]*\}|"[^"\t]*+")\t)+(?:\{|null\s*+$)'
        then regexp_extract(_wrapped, r'^(?:(?:CreateTime:\d++|LogAppendTime:\d++|NoTimestampType\S*+|Partition:\d++|Offset:\d++|NO_HEADERS|[^{}"\[\]\t]*+|\{[^\t]*\}|"[^"\t]*+")\t)+((?s)(?:\{.*|null))', 1)
      when _wrapped rlike r'^\s*+"' then coalesce(get_json_object(concat('[', _wrapped, ']'), '$[0]'), _wrapped)
      when array_contains(_around.names, 'payload')
        and size(array_except(_around.names, array('schema', 'payload'))) = 0
        then if(
          _around.parts['payload'] = '' and left(trim(get_json_object(_wrapped, '$.payload')), 1) = '{',
          get_json_object(_wrapped, '$.payload'),
          _wrapped
        )
      when size(_around.names) > 1
        and size(array_except(_around.names, array('key', 'value', 'headers', 'topic', 'partition', 'offset', 'timestamp', 'timestampType', 'timestamp_type', 'ts', 'tstype', 'broker', 'payload', 'key_schema_id', 'value_schema_id'))) = 0
        and arrays_overlap(_around.names, array('key', 'topic'))
        and arrays_overlap(_around.names, array('value', 'payload'))
        then coalesce(
          nullif(_around.parts['value'], ''),
          nullif(_around.parts['payload'], ''),
          get_json_object(_wrapped, '$.value'),
          get_json_object(_wrapped, '$.payload'),
          'null'
        )
      else _wrapped
    end
  )[0]
          )),
          _message -> transform(transform(transform(transform(
    array(if(
    _message rlike r'"(?:before|after)"\s*+:\s*+\{\s*+"[A-Za-z_]\w*+[.]'
      or _message rlike r'"(?:ts_ms|snapshot)"\s*+:\s*+\{\s*+"(?:long|string)"'
        and _message rlike r'"(?:before|after)"\s*+:\s*+null'
        and not _message rlike r'"(?:before|after)"\s*+:\s*+[^n\s]',
    aggregate(
      array(1, 2),
      regexp_replace(_message, r'\{\s*+"(?:boolean|int|long|float|double|string)"\s*+:\s*+("(?:[^"\\]++|\\.)*+"|[^"\[\]{},\s]++)\s*+\}', '$1'),
      (_with, _nth) -> regexp_replace(_with, r'\{\s*+"(?:array|map|[A-Za-z_]\w*+(?:[.]\w++)+)"\s*+:\s*+((?:[^"\[\]{},\s]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}]))\s*+\}', '$1')
    ),
    _message
  )),
    _text -> struct(
      _text as text,
      array_contains(json_object_keys(_text), 'payload')
        and size(array_except(json_object_keys(_text), array('schema', 'payload'))) = 0 as is_wrapped,
      if(
    _text rlike r'"\s*+:\s*+(?:-?[0-9]++[.eE]|-0|[-+]?[IN]|-?[0-9]{400})',
    regexp_replace(
      _text,
      r'\G((?:[^"0-9+\-IN]++|"(?:[^"\\]++|\\.)*+")*+)(-?(?:0|[1-9][0-9]*+)(?:[.][0-9]++)?+(?:[eE][+\-]?[0-9]++)?+|[+\-]?Infinity|NaN)(?=[\s,\]}])',
      r'$1"$2"'
    ),
    _text
  ) as quoted
    )),
    _read -> struct(
      _read.text as text,
      if(
        _read.is_wrapped,
        from_json(_read.quoted, 'struct<payload: map<string, string>>').payload,
        from_json(_read.quoted, 'map<string, string>')
      ) as texts,
      coalesce(aggregate(if(_read.is_wrapped, array('', 'payload'), array('')), map('', _read.text), (found, name) -> transform(
    transform(
      array(regexp_extract_all(found[name], r'\G\s*+[{,]\s*+("(?:[^"\\]++|\\.)*+"\s*+:\s*+(?:[^"\[\]{},\s]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}]))(?=\s*+[,}])', 1)),
      members -> struct(
        transform(members, member -> regexp_extract(member, r'^"((?:[^"\\]++|\\.)*+)"', 1)) as names,
        transform(members, member -> regexp_extract(member, r'^"(?:[^"\\]++|\\.)*+"\s*+:\s*+([\[{](?s).*+)?', 1)) as texts
      )
    ),
    row -> if(
      size(row.names) = size(json_object_keys(regexp_replace(found[name], r':\s*+[+\-]?+(Infinity|NaN)', ':0')))
        and size(array_distinct(row.names)) = size(row.names)
        and not contains(array_join(row.names, ''), r'\'),
      map_from_arrays(row.names, row.texts),
      null
    )
  )[0]), map('"', '')) as parts,
      transform(
    array(from_json(
      get_json_object(_read.text, '$.schema'),
      'struct<fields: array<struct<field: string, type: string, name: string, parameters: struct<scale: string, length: string>, fields: array<struct<field: string, type: string, name: string, parameters: struct<scale: string, length: string>>>>>>'
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
      cast(map() as map<string, struct<field: string, type: string, name: string, parameters: struct<scale: string, length: string>>>)
    )
  )[0] as fields,
      map('id', 'bigint', 'amount', 'decimal', 'at', 'timestamp') as kinds
    )),
    _event -> struct(
      _event as event,
      exists(map_keys(_event.texts), _key -> startswith(_key, '__')) as is_flat,
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
  end as op
    )),
    _known -> case
      when _known.op is null then _known.event.text
      when startswith(_known.op, '!')
        then concat('{"op":', coalesce(regexp_extract(to_json(array(_known.op)), r'^\[((?s).*)\]$', 1), 'null'), '}')
      else concat(
        '{"op":', coalesce(regexp_extract(to_json(array(_known.op)), r'^\[((?s).*)\]$', 1), 'null'),
        ',"source":', if(
          _known.is_flat,
          concat('{', array_join(transform(
    filter(map_keys(_known.event.texts), _key -> startswith(_key, '__') and not startswith(_key, '__transaction_')),
    _key -> concat(
      coalesce(regexp_extract(to_json(array(regexp_replace(_key, '^__(source_|transaction_)?', ''))), r'^\[((?s).*)\]$', 1), 'null'), ':',
      coalesce(regexp_extract(to_json(array(_known.event.texts[_key])), r'^\[((?s).*)\]$', 1), 'null')
    )
  ), ','), '}'),
          coalesce(nullif(_known.event.parts['source'], ''), 'null')
        ),
        ',"transaction":', if(
          _known.is_flat,
          concat('{', array_join(transform(
    filter(map_keys(_known.event.texts), _key -> startswith(_key, '__') and startswith(_key, '__transaction_')),
    _key -> concat(
      coalesce(regexp_extract(to_json(array(regexp_replace(_key, '^__(source_|transaction_)?', ''))), r'^\[((?s).*)\]$', 1), 'null'), ':',
      coalesce(regexp_extract(to_json(array(_known.event.texts[_key])), r'^\[((?s).*)\]$', 1), 'null')
    )
  ), ','), '}'),
          coalesce(nullif(_known.event.parts['transaction'], ''), 'null')
        ),
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
          from_json(if(
    _image.json rlike r'"\s*+:\s*+(?:-?[0-9]++[.eE]|-0|[-+]?[IN]|-?[0-9]{400})',
    regexp_replace(
      _image.json,
      r'\G((?:[^"0-9+\-IN]++|"(?:[^"\\]++|\\.)*+")*+)(-?(?:0|[1-9][0-9]*+)(?:[.][0-9]++)?+(?:[eE][+\-]?[0-9]++)?+|[+\-]?Infinity|NaN)(?=[\s,\]}])',
      r'$1"$2"'
    ),
    _image.json
  ), 'map<string, string>')
        ) as texts,
        if(
          _known.is_flat,
          _known.event.parts,
          coalesce(aggregate(array(''), map('', _image.json), (found, name) -> transform(
    transform(
      array(regexp_extract_all(found[name], r'\G\s*+[{,]\s*+("(?:[^"\\]++|\\.)*+"\s*+:\s*+(?:[^"\[\]{},\s]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"|[\[{](?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}])*+[\]}]))(?=\s*+[,}])', 1)),
      members -> struct(
        transform(members, member -> regexp_extract(member, r'^"((?:[^"\\]++|\\.)*+)"', 1)) as names,
        transform(members, member -> regexp_extract(member, r'^"(?:[^"\\]++|\\.)*+"\s*+:\s*+([\[{](?s).*+)?', 1)) as texts
      )
    ),
    row -> if(
      size(row.names) = size(json_object_keys(regexp_replace(found[name], r':\s*+[+\-]?+(Infinity|NaN)', ':0')))
        and size(array_distinct(row.names)) = size(row.names)
        and not contains(array_join(row.names, ''), r'\'),
      map_from_arrays(row.names, row.texts),
      null
    )
  )[0]), map('"', ''))
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
        _name -> not startswith(_name, '__') and (not _row.is_document or (_name <> '_id' and _name <> 'document'))
      ),
      _name -> concat(
        coalesce(regexp_extract(to_json(array(_name)), r'^\[((?s).*)\]$', 1), 'null'), ':',
        transform(
    array(struct(
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
        when _value rlike r'^\{\s*+"\$(?:oid|numberLong|numberInt|numberDouble|numberDecimal|uuid|symbol|date)"\s*+:\s*+"[^"]*+"\s*+\}$'
          then regexp_extract(_value, r':\s*+"([^"]*+)"\s*+\}$', 1)
        when _value rlike r'^\{\s*+"\$date"\s*+:' then concat(
          transform(array(pmod(cast(regexp_extract(_value, '(-?[0-9]+)[^0-9]*$', 1) as decimal(20, 0)) * 1000000, 86400000000000BD)), _of_day -> concat(
    cast(date_from_unix_date(try_cast((cast(regexp_extract(_value, '(-?[0-9]+)[^0-9]*$', 1) as decimal(20, 0)) * 1000000 - _of_day) / 86400000000000BD as int)) as string),
    'T',
    transform(array(cast(abs(_of_day) as bigint)), _nanos -> concat(
    if(_of_day < 0, '-', ''),
    if(_nanos < 36000000000000, '0', ''), cast(_nanos div 3600000000000 as string), ':',
    lpad(cast(_nanos div 60000000000 % 60 as string), 2, '0'), ':',
    lpad(cast(_nanos div 1000000000 % 60 as string), 2, '0'),
    case
      when _nanos % 1000000000 = 0 then ''
      when _nanos % 1000 = 0 then concat('.', lpad(cast(_nanos div 1000 % 1000000 as string), 6, '0'))
      else concat('.', lpad(cast(_nanos % 1000000000 as string), 9, '0'))
    end
  ))[0]
  ))[0],
          'Z'
        )
        else _value
      end
    )[0]
  ) as given,
      regexp_extract(coalesce(_known.event.fields[_name].name, ''), '([A-Za-z]+)$', 1) as semantic
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
      _value -> coalesce(regexp_extract(to_json(array(if(_known.event.kinds[_name] is null or _known.event.fields[_name] is null, _value.given, coalesce(case
      when _value.given in ('__debezium_unavailable_value', base64(cast('__debezium_unavailable_value' as binary)), lower(hex('__debezium_unavailable_value')), hex('__debezium_unavailable_value'),
  '["__debezium_unavailable_value"]', '{"__debezium_unavailable_value":"__debezium_unavailable_value"}', '{"__debezium_unavailable_value": "__debezium_unavailable_value"}', '[95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117,101]', '[95, 95, 100, 101, 98, 101, 122, 105, 117, 109, 95, 117, 110, 97, 118, 97, 105, 108, 97, 98, 108, 101, 95, 118, 97, 108, 117, 101]', '["b68a35a7-17ad-35b3-af2a-ae46edb4545a"]') then _value.given
      when _value.semantic in ('Decimal', 'VariableScaleDecimal') then if(
        if(map_contains_key(_known.event.parts, '"'), _known.event.text, _row.json) rlike concat('"', _name, r'"\s*+:\s*+-?[0-9]'),
        _value.given,
        nullif(transform(
    array(if(_value.given is null, null, coalesce(
    transform(
      transform(array(if(base64(try_to_binary(if(startswith(_value.given, '{'), get_json_object(_value.given, '$.value'), _value.given), 'base64')) = if(startswith(_value.given, '{'), get_json_object(_value.given, '$.value'), _value.given), hex(try_to_binary(if(startswith(_value.given, '{'), get_json_object(_value.given, '$.value'), _value.given), 'base64')), null)), digits -> case
        when length(digits) not between 2 and 32 then null
        when digits < '8' then try_add(
    try_multiply(cast(conv(substr(lpad(digits, 32, '0'), 1, 16), 16, 10) as decimal(20, 0)), 18446744073709551616BD),
    cast(conv(substr(lpad(digits, 32, '0'), 17, 16), 16, 10) as decimal(20, 0))
  )
        else -1 - try_add(
    try_multiply(cast(conv(substr(translate(lpad(digits, 32, 'F'), '0123456789ABCDEF', 'FEDCBA9876543210'), 1, 16), 16, 10) as decimal(20, 0)), 18446744073709551616BD),
    cast(conv(substr(translate(lpad(digits, 32, 'F'), '0123456789ABCDEF', 'FEDCBA9876543210'), 17, 16), 16, 10) as decimal(20, 0))
  )
      end),
      number -> if(
        right(cast(number as string), if(startswith(_value.given, '{'), try_cast(get_json_object(_value.given, '$.scale') as int), coalesce(try_cast(get_json_object(_value.given, '$.scale') as int), try_cast(_known.event.fields[_name].parameters.scale as int), 0)) - coalesce(try_cast(get_json_object(_value.given, '$.scale') as int), try_cast(_known.event.fields[_name].parameters.scale as int), 0)) rlike '[1-9]',
        null,
        concat(number, 'E', -if(startswith(_value.given, '{'), try_cast(get_json_object(_value.given, '$.scale') as int), coalesce(try_cast(get_json_object(_value.given, '$.scale') as int), try_cast(_known.event.fields[_name].parameters.scale as int), 0)))
      )
    )[0],
    'no decimal'
  ))),
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
  )[0], 'no decimal')
      )
      when _value.semantic = 'Bits' then transform(
    array(hex(try_to_binary(_value.given, 'base64'))),
    _hex -> transform(
      array(if(_hex = '', '', array_join(transform(
        sequence(cast(length(_hex) / 2 as int), 1, -1),
        _byte -> lpad(conv(substr(_hex, 2 * _byte - 1, 2), 16, 2), 8, '0')
      ), ''))),
      _bits -> if(
        _known.event.kinds[_name] in ('tinyint', 'smallint', 'int', 'bigint', 'decimal', 'boolean'),
        conv(_bits, 2, 10),
        right(_bits, coalesce(try_cast(_known.event.fields[_name].parameters.length as int), length(_bits)))
      )
    )[0]
  )[0]
      when _known.event.kinds[_name] in ('tinyint', 'smallint', 'int', 'bigint', 'decimal') or not _value.given rlike '^-?[0-9]+$'
        then _value.given
      when _value.semantic = 'Date' then cast(date_from_unix_date(try_cast(_value.given as int)) as string)
      when _value.semantic in ('Timestamp', 'MicroTimestamp', 'NanoTimestamp') then concat(
        transform(array(pmod(_value.nanos, 86400000000000BD)), _of_day -> concat(
    cast(date_from_unix_date(try_cast((_value.nanos - _of_day) / 86400000000000BD as int)) as string),
    'T',
    transform(array(cast(abs(_of_day) as bigint)), _nanos -> concat(
    if(_of_day < 0, '-', ''),
    if(_nanos < 36000000000000, '0', ''), cast(_nanos div 3600000000000 as string), ':',
    lpad(cast(_nanos div 60000000000 % 60 as string), 2, '0'), ':',
    lpad(cast(_nanos div 1000000000 % 60 as string), 2, '0'),
    case
      when _nanos % 1000000000 = 0 then ''
      when _nanos % 1000 = 0 then concat('.', lpad(cast(_nanos div 1000 % 1000000 as string), 6, '0'))
      else concat('.', lpad(cast(_nanos % 1000000000 as string), 9, '0'))
    end
  ))[0]
  ))[0], if(_known.event.kinds[_name] = 'timestamp', 'Z', '')
      )
      when _value.semantic in ('Time', 'MicroTime', 'NanoTime')
        then transform(array(cast(abs(_value.nanos) as bigint)), _nanos -> concat(
    if(_value.nanos < 0, '-', ''),
    if(_nanos < 36000000000000, '0', ''), cast(_nanos div 3600000000000 as string), ':',
    lpad(cast(_nanos div 60000000000 % 60 as string), 2, '0'), ':',
    lpad(cast(_nanos div 1000000000 % 60 as string), 2, '0'),
    case
      when _nanos % 1000000000 = 0 then ''
      when _nanos % 1000 = 0 then concat('.', lpad(cast(_nanos div 1000 % 1000000 as string), 6, '0'))
      else concat('.', lpad(cast(_nanos % 1000000000 as string), 9, '0'))
    end
  ))[0]
    end, if(
      _known.event.kinds[_name] = 'string' and _value.semantic like '%Decimal',
      '__debezium_unavailable_value',
      _value.given
    ))))), r'^\[((?s).*)\]$', 1), 'null')
    )[0]
  )[0]
      )
    ), ','), '}')))
  ), ''),
        '}'
      )
    end
  )[0]
        )[0]
        /* end of other forms */
      ) as _json_line
    from (
      select
        *,
        coalesce(
    coalesce(size(_as_it_is) = 2 and _as_it_is[1]['_dbt_end'] = 'true' and _as_it_is[0] is not null, false)
      and _as_it_is[0].source.connector is not null
      and _as_it_is[0].schema is null
      and _as_it_is[0].__deleted is null
      and case
        when _as_it_is[0].op in ('c', 'r', 'u') then _as_it_is[0].after is not null
          and not contains(get(map_keys(_as_it_is[0].after), 0), '.')
        when _as_it_is[0].op = 'd' then _as_it_is[0].before['id'] is not null
      end,
    false
  )
          or _text rlike r'^\s*+(?:\{\s*+"(?:before|after|op|source|transaction|ts_ms)"\s*+:|(?:null\s*+)?$)'
        and not contains(_text, '\t')
        and not _text rlike r'"__[^"]*+"\s*+:'
        and not _text rlike r'"(?:before|after)"\s*+:\s*+(?:"|\{\s*+"[A-Za-z_]\w*+[.])'
        and not _text rlike r'"(?:updateDescription|patch)"\s*+:'
        and not _text rlike r'"(?:ts_ms|snapshot)"\s*+:\s*+\{' as _is_plain
      from (
        select *, from_json(
    concat('[', _text, ',{"_dbt_end":true}]'),
    'array<struct<op: string, before: struct<`id`: string>, after: map<string, string>, source: struct<`connector`: string, `db`: string, `schema`: string, `table`: string, `collection`: string, `ts_ms`: string, `sequence`: string, `lsn`: string, `commit_lsn`: string, `change_lsn`: string, `event_serial_no`: string, `file`: string, `pos`: string, `row`: string, `gtid`: string, `ord`: string, `scn`: string, `commit_scn`: string, `rs_id`: string, `ssn`: string>, transaction: struct<total_order: string>, payload: struct<op: string, before: struct<`id`: string>, after: map<string, string>, source: struct<`connector`: string, `db`: string, `schema`: string, `table`: string, `collection`: string, `ts_ms`: string, `sequence`: string, `lsn`: string, `commit_lsn`: string, `change_lsn`: string, `event_serial_no`: string, `file`: string, `pos`: string, `row`: string, `gtid`: string, `ord`: string, `scn`: string, `commit_scn`: string, `rs_id`: string, `ssn`: string>, transaction: struct<total_order: string>>, `id`: string, schema: string, __deleted: string, _dbt_end: string>>',
    map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false', 'maxStringLen', '2147483647', 'maxNumLen', '2147483647', 'maxNestingDepth', '900')
  ) as _as_it_is
        from (select *, if(startswith(_raw_line, '\uFEFF'), substr(_raw_line, 2), _raw_line) as _text from (/* lines */ select
    value as _raw_line,
    cast(batch as bigint) as _batch,
    if(contains(_metadata.file_path, '%'), url_decode(replace(substring_index(_metadata.file_path, '/', -3), '+', '%2B')), substring_index(_metadata.file_path, '/', -3)) as _file,
    _metadata.file_block_start as _block_start
  from landing.orders /* end of lines */))
      )
    )
  ))
  )
  lateral view explode(array(_exact)) as _values
      )
    )
  )
  ),
  typed as (
    select
      *,
      if(
    (_op = 'u' and (coalesce(_before['id'] <> _after['id'], false))),
    nullif(struct(if(contains(_before['id'], '.'), null, try_cast(_before['id'] as bigint)) as id), struct(id)),
    null
  ) as _key_before,
      if(
        _op in ('c', 'r', 'u'),
        if(
    _text_amount is null or _text_at is null,
    array_except(
      array(if(_text_amount is null, 'amount', null), if(_text_at is null, 'at', null)),
      array_append(coalesce(map_keys(_after), cast(array() as array<string>)), null)
    ),
    cast(array() as array<string>)
  ),
        null
      ) as _missing_fields,
      if(_op = 'r' and _source.lsn is null, 0L, if(contains(_source.lsn, '.'), null, try_cast(_source.lsn as bigint))) as _dbt_lsn,
      try_cast(nullif(regexp_extract(_source.sequence, '^."?([0-9]+)', 1), '') as bigint) as _dbt_last_commit
    from (
      select *
  from (
    select
      *,
      struct(
        if(contains(_text_id, '.'), null, try_cast(_text_id as bigint)),
        if(_text_amount rlike '^[+-]?[0-9]*[.]?[0-9]{0,2}0*$'
    or exists(array(try_cast(_text_amount as decimal(12,2))), number -> trim(both '0' from regexp_replace(number, '[eE].*|[^0-9]', '')) = trim(both '0' from regexp_replace(_text_amount, '[eE].*|[^0-9]', ''))),
    try_cast(_text_amount as decimal(12,2)), null),
        if(_text_at rlike '^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6}0*)?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?$', try_cast(_text_at as timestamp), null)
      ) as _typed
    from (
      select
        *,
        array('__debezium_unavailable_value', base64(cast('__debezium_unavailable_value' as binary)), lower(hex('__debezium_unavailable_value')), hex('__debezium_unavailable_value'),
  '["__debezium_unavailable_value"]', '{"__debezium_unavailable_value":"__debezium_unavailable_value"}', '{"__debezium_unavailable_value": "__debezium_unavailable_value"}', '[95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117,101]', '[95, 95, 100, 101, 98, 101, 122, 105, 117, 109, 95, 117, 110, 97, 118, 97, 105, 108, 97, 98, 108, 101, 95, 118, 97, 108, 117, 101]', '["b68a35a7-17ad-35b3-af2a-ae46edb4545a"]') as _placeholders,
        case _op when 'd' then _before['id'] when 't' then null else _after['id'] end as _text_id,
        _after['amount'] as _text_amount,
        _after['at'] as _text_at
      from (
        select *, cast(null as map<string, string>) as _members
        from images
      )
    )
  )
  lateral view inline(array(_typed)) as id, amount, at
    )
  )
  select
    id,
    amount,
    at,
    _version,
    _op = 'd' as _is_deleted,
    _op = 't' as _is_truncate,
    _key_before as _key_before,
    _missing_fields as _missing_fields,
    _ignored as _ignored,
    if(_op = 'r' and coalesce(_source.lsn, _source.file, _source.ord, _source.commit_lsn, _source.scn) is null or if(_op <> 'r' and _source.commit_lsn is null and _source.sequence is not null and _dbt_last_commit is null, _dbt_lsn, null) is not null, null, try_cast(_source.ts_ms as bigint)) as _event_ms,
    if(_op <> 'r' and _source.commit_lsn is null and _source.sequence is not null and _dbt_last_commit is null, _dbt_lsn, null) as _first_lsn,
    if(_op = 'r' and _dbt_last_commit is null, _dbt_lsn, null) as _snapshot_lsn,
    if(coalesce(nullif(_source.table, ''), _source.collection) is null, null, concat_ws('.', coalesce(nullif(_source.schema, ''), nullif(_source.db, '')), coalesce(nullif(_source.table, ''), _source.collection))) as _table,
    if(
      _has_known_fields,
      cast(array() as array<string>),
      array_except(
        if(_is_json and _ignored is null, if(_op = 'd', json_object_keys(if(
    _is_wrapped,
    get_json_object(_json_line, '$.payload.before'),
    get_json_object(_json_line, '$.before')
  )), map_keys(_after)), null),
        array('id', 'amount', 'at')
      )
    ) as _unknown_fields,
    _batch,
    _file,
    _block_start,
    _raw_line,
    /* _line_id, */
    case
      when not _is_json and _json_line rlike r'^[\s\uFEFF]*+(?:null)?[\s\uFEFF]*+$' then null
      when not is_valid_utf8(_raw_line) then 'invalid UTF-8'
      when not _is_json then if(
    exists(
      array(from_json(
    concat('[', if(
    _json_line rlike r'"\s*+:\s*+(?:-?[0-9]++[.eE]|-0|[-+]?[IN]|-?[0-9]{400})',
    regexp_replace(
      _json_line,
      r'\G((?:[^"0-9+\-IN]++|"(?:[^"\\]++|\\.)*+")*+)(-?(?:0|[1-9][0-9]*+)(?:[.][0-9]++)?+(?:[eE][+\-]?[0-9]++)?+|[+\-]?Infinity|NaN)(?=[\s,\]}])',
      r'$1"$2"'
    ),
    _json_line
  ), ',{"_dbt_end":true}]'),
    'array<struct<_dbt_end: string>>',
    map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false', 'maxStringLen', '2147483647', 'maxNumLen', '2147483647', 'maxNestingDepth', '2147483647')
  )),
      _values -> coalesce(size(_values) = 2 and _values[1]['_dbt_end'] = 'true' and _values[0] is not null, false)
    ),
    'nests deeper than 900 levels',
    'malformed JSON'
  )
      when _ignored is not null then null
      when _members['"'] is not null
        or not _has_known_fields and size(array_distinct(map_keys(_after))) < size(_after)
        then 'row nests deeper than 20 levels or names a field twice'
      when contains(_raw_line, r'\u')
  and (contains(_raw_line, r'\ud') or contains(_raw_line, r'\uD'))
  and _raw_line rlike r'^(?:[^\\]++|\\[^u]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+\\u[dD]' then 'half of a surrogate pair'
      when _op is null
      and array_contains(json_object_keys(_json_line), 'payload')
      and size(array_except(json_object_keys(_json_line), array('schema', 'payload'))) = 0
      and get_json_object(_json_line, '$.payload') is null then null
      when startswith(_op, '!') then substr(_op, 2)
      when _op is null then 'op is missing'
      when _op not in ('c', 'r', 'u', 'd', 't') then concat('unknown op ', _op)
      when _op = 'd' and _before is null then 'before image is missing'
      when _op in ('c', 'r', 'u') and _after is null then 'after image is missing'
      when _source.connector in ('cassandra', 'yugabytedb') and _json_line rlike r'"(?:before|after)"\s*+:\s*+\{\s*+"[^"]++"\s*+:\s*+\{\s*+"(?:value|deletion_ts|set)"' then concat('each value of ', _source.connector, ' is an object with value and set')
      when _source.connector is null then 'source.connector is missing'
      when _source.connector not in ('postgresql', 'mysql', 'mariadb', 'mongodb', 'sqlserver', 'oracle') then concat('source.connector is ', _source.connector, ', which has no known order of commits')
      when _source.connector = 'postgresql' and _source.lsn is null and _op <> 'r' then 'source.lsn is missing'
      when _source.connector = 'postgresql' and _source.lsn is not null and _dbt_lsn is null then 'source.lsn does not fit bigint'
      when _source.connector = 'postgresql' and _op <> 'r' and coalesce(_source.sequence, _source.commit_lsn) is null then 'source.sequence is missing'
      when _source.connector = 'postgresql' and _version is null then 'source.sequence is no position'
      when _source.connector = 'mysql' and _source.file is null and _op <> 'r' then 'source.file is missing'
      when _source.connector = 'mysql' and _source.pos is null and _op <> 'r' then 'source.pos is missing'
      when _source.connector = 'mysql' and _version is null then 'source.file and source.pos are no position'
      when _source.connector = 'mariadb' and _source.file is null and _op <> 'r' then 'source.file is missing'
      when _source.connector = 'mariadb' and _source.pos is null and _op <> 'r' then 'source.pos is missing'
      when _source.connector = 'mariadb' and _version is null then 'source.file and source.pos are no position'
      when _source.connector = 'mongodb' and _version is null then 'source.ts_ms and source.ord are no position'
      when _source.connector = 'sqlserver' and _version is null then 'source.commit_lsn and source.change_lsn are no position'
      when _source.connector = 'oracle' and _version is null then 'source.commit_scn and source.scn are no position'
      when _op = 't' then null
      when _text_id is null then 'key id is null'
      when array_contains(_placeholders, _text_id) then 'id is unavailable'
      when _text_id is not null and id is null then 'id does not fit bigint'
      when _op = 'd' then null
      when _text_amount is null then 'amount is null'
      when array_contains(_placeholders, _text_amount) then 'amount is unavailable'
      when _text_amount is not null and amount is null then 'amount does not fit decimal(12,2)'
      when array_contains(_placeholders, _text_at) then 'at is unavailable'
      when _text_at is not null and at is null then 'at does not fit timestamp'
      when at not between cast('1900-01-01 00:00:00Z' as timestamp) and cast('2299-12-31 23:59:59.999999Z' as timestamp) then 'at is outside 1900-01-01 00:00:00Z to 2299-12-31 23:59:59.999999Z'
      when (_op = 'u' and (coalesce(_before['id'] <> _after['id'], false))) and _before['id'] is null then 'before.key id is null'
      when (_op = 'u' and (coalesce(_before['id'] <> _after['id'], false))) and _before['id'] is not null and if(contains(_before['id'], '.'), null, try_cast(_before['id'] as bigint)) is null then 'before.id does not fit bigint'
      when get(_missing_fields, 0) is not null then concat('', get(_missing_fields, 0), ' is missing')
    end as _reason
  from (
    select
      *,
      if(_ignored is null, case _source.connector when 'postgresql' then lpad(cast(if(if(_op = 'r' and _source.lsn is null, 0L, coalesce(try_cast(_source.commit_lsn as bigint), _dbt_last_commit, if(_op <> 'r' and _source.sequence is null, null, _dbt_lsn))) between 0 and 18014398509481983 and _dbt_lsn between 0 and 18014398509481983, cast(if(_op = 'r' and _source.lsn is null, 0L, coalesce(try_cast(_source.commit_lsn as bigint), _dbt_last_commit, if(_op <> 'r' and _source.sequence is null, null, _dbt_lsn))) as decimal(17,0)) * cast(18446744073709551616 as decimal(20,0)) + (_dbt_lsn - if(_op = 'r' and _source.lsn is null, 0L, coalesce(try_cast(_source.commit_lsn as bigint), _dbt_last_commit, if(_op <> 'r' and _source.sequence is null, null, _dbt_lsn))) + if(_op = 'r', 0L, 4611686018427387904L) + if(_op = 'd', 0L, 1L)), null) as string), 38, '0') when 'mysql' then lpad(if(_op = 'r' and _source.file is null, '0', concat(nullif(regexp_extract(_source.file, '[.]([0-9]{1,15})$', 1), ''), if(_source.pos rlike '^[0-9]{1,12}$', lpad(_source.pos, 12, '0'), null), if(coalesce(_source.row, '0') rlike '^[0-9]{1,6}$', lpad(coalesce(_source.row, '0'), 6, '0'), null), if(_op = 'd', '0', '1'))), 38, '0') when 'mariadb' then lpad(if(_op = 'r' and _source.file is null, '0', concat(nullif(regexp_extract(_source.file, '[.]([0-9]{1,15})$', 1), ''), if(_source.pos rlike '^[0-9]{1,12}$', lpad(_source.pos, 12, '0'), null), if(coalesce(_source.row, '0') rlike '^[0-9]{1,6}$', lpad(coalesce(_source.row, '0'), 6, '0'), null), if(_op = 'd', '0', '1'))), 38, '0') when 'mongodb' then lpad(if(_op = 'r' and _source.ord is null, '0', concat(cast(try_cast(_source.ts_ms as bigint) div 1000 as string), if(_source.ord rlike '^[0-9]{1,10}$', lpad(_source.ord, 10, '0'), null), if(_op = 'd', '0', '1'))), 38, '0') when 'sqlserver' then lpad(concat(if(if(_op = 'r', coalesce(_source.commit_lsn, '0:0:0'), _source.commit_lsn) rlike '^[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,4}$', concat(lpad(conv(split(if(_op = 'r', coalesce(_source.commit_lsn, '0:0:0'), _source.commit_lsn), ':')[0], 16, 10), 10, '0'), lpad(conv(split(if(_op = 'r', coalesce(_source.commit_lsn, '0:0:0'), _source.commit_lsn), ':')[1], 16, 10), 10, '0'), lpad(conv(split(if(_op = 'r', coalesce(_source.commit_lsn, '0:0:0'), _source.commit_lsn), ':')[2], 16, 10), 5, '0')), null), if(coalesce(_source.change_lsn, '0:0:0') rlike '^[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,4}$', concat(lpad(conv(split(coalesce(_source.change_lsn, '0:0:0'), ':')[0], 16, 10), 10, '0'), lpad(conv(split(coalesce(_source.change_lsn, '0:0:0'), ':')[1], 16, 10), 10, '0'), lpad(conv(split(coalesce(_source.change_lsn, '0:0:0'), ':')[2], 16, 10), 5, '0')), null), if(coalesce(_source.event_serial_no, '0') rlike '^[0-9]{1,10}$', lpad(coalesce(_source.event_serial_no, '0'), 10, '0'), null), if(_op = 'd', '0', '1')), 76, '0') when 'oracle' then lpad(concat(if(if(_op = 'r', coalesce(_source.scn, '0'), _source.commit_scn) rlike '^[0-9]{1,20}$', lpad(if(_op = 'r', coalesce(_source.scn, '0'), _source.commit_scn), 20, '0'), null), if(coalesce(_source.scn, '0') rlike '^[0-9]{1,20}$', lpad(coalesce(_source.scn, '0'), 20, '0'), null), if(coalesce(substring(nullif(trim(_source.rs_id), ''), 3), '0.0.0') rlike '^[0-9a-fA-F]{1,8}[.][0-9a-fA-F]{1,8}[.][0-9a-fA-F]{1,4}$', concat(lpad(conv(split(coalesce(substring(nullif(trim(_source.rs_id), ''), 3), '0.0.0'), '[.]')[0], 16, 10), 10, '0'), lpad(conv(split(coalesce(substring(nullif(trim(_source.rs_id), ''), 3), '0.0.0'), '[.]')[1], 16, 10), 10, '0'), lpad(conv(split(coalesce(substring(nullif(trim(_source.rs_id), ''), 3), '0.0.0'), '[.]')[2], 16, 10), 5, '0')), null), if(coalesce(_source.ssn, '0') rlike '^[0-9]{1,6}$', lpad(coalesce(_source.ssn, '0'), 6, '0'), null), if(_op = 'd', '0', '1')), 76, '0') end, null) as _version,
      coalesce(map_keys(_after) = array('id', 'amount', 'at'), false)
        as _has_known_fields
    from typed
  )
  /* end of all lines */
