with images as (
    select
    *,
    case
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
  end as _passed_over
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
    lines.*,
    _values[0] as _value,
    coalesce(size(_values) = 2 and _values[1]['_dbt_end'] = 'true' and _values[0] is not null, false) as _is_json
  from (
    select *, if(startswith(_raw_line, '\uFEFF'), substr(_raw_line, 2), _raw_line) as _json_line
    from (select
    value as _raw_line,
    cast(batch as bigint) as _batch,
    if(contains(_metadata.file_path, '%'), url_decode(replace(substring_index(_metadata.file_path, '/', -3), '+', '%2B')), substring_index(_metadata.file_path, '/', -3)) as _file,
    _metadata.file_block_start as _block_start
  from landing.orders)
  ) as lines
  lateral view explode(transform(
    array(from_json(
    concat('[', _json_line, ',{"_dbt_end":true}]'),
    'array<struct<op: string, before: struct<id: string>, after: map<string, string>, source: map<string, string>, transaction: map<string, string>, payload: struct<op: string, before: struct<id: string>, after: map<string, string>, source: map<string, string>, transaction: map<string, string>>, id: string, _dbt_end: string>>',
    map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false', 'maxStringLen', '2147483647', 'maxNumLen', '2147483647', 'maxNestingDepth', '900')
  )),
    found -> if(
      not coalesce(size(found) = 2 and found[1]['_dbt_end'] = 'true' and found[0] is not null, false)
      or (coalesce(found[0].after['amount'] < ':', false) or coalesce(found[0].payload.after['amount'] < ':', false))
        and (contains(_json_line, r'\') or _json_line rlike r'"amount"\s*+:\s*+(?:-?[0-9]++[.eE]|-0|[-+]?[IN]|-?[0-9]{400})'),
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
    'array<struct<op: string, before: struct<id: string>, after: map<string, string>, source: map<string, string>, transaction: map<string, string>, payload: struct<op: string, before: struct<id: string>, after: map<string, string>, source: map<string, string>, transaction: map<string, string>>, id: string, _dbt_end: string>>',
    map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false', 'maxStringLen', '2147483647', 'maxNumLen', '2147483647', 'maxNestingDepth', '900')
  ),
      found
    )
  )) as _values
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
      ) as _missing_fields
    from (
      select *
  from (
    select
      *,
      array('__debezium_unavailable_value', base64(cast('__debezium_unavailable_value' as binary)), lower(hex('__debezium_unavailable_value')), hex('__debezium_unavailable_value'),
  '["__debezium_unavailable_value"]', '{"__debezium_unavailable_value":"__debezium_unavailable_value"}', '{"__debezium_unavailable_value": "__debezium_unavailable_value"}', '[95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117,101]', '[95, 95, 100, 101, 98, 101, 122, 105, 117, 109, 95, 117, 110, 97, 118, 97, 105, 108, 97, 98, 108, 101, 95, 118, 97, 108, 117, 101]', '["b68a35a7-17ad-35b3-af2a-ae46edb4545a"]') as _placeholders,
      case _op when 'd' then _before['id'] when 't' then null else _after['id'] end as _text_id,
      _after['amount'] as _text_amount,
      _after['at'] as _text_at
    from (select *
  from images
  lateral view explode(array(
    cast(null as map<string, string>)
  )) as _members)
  )
  lateral view inline(array(struct(
    if(contains(_text_id, '.'), null, try_cast(_text_id as bigint)),
    if(_text_amount rlike '^[+-]?[0-9]*[.]?[0-9]{0,2}0*$'
    or exists(array(try_cast(_text_amount as decimal(12,2))), number -> trim(both '0' from regexp_replace(number, '[eE].*|[^0-9]', '')) = trim(both '0' from regexp_replace(_text_amount, '[eE].*|[^0-9]', ''))),
    try_cast(_text_amount as decimal(12,2)), null),
    if(_text_at rlike '^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6}0*)?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?$', try_cast(_text_at as timestamp), null)
  ))) as id, amount, at
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
    _passed_over as _passed_over,
    if(_op = 'r', null, try_cast(_source.ts_ms as bigint)) as _event_ms,
    if(_op <> 'r' and _source.commit_lsn is null and _source.sequence is not null and try_cast(nullif(regexp_extract(_source.sequence, '^."?([0-9]+)', 1), '') as bigint) is null, if(_op = 'r' and _source.lsn is null, 0L, if(contains(_source.lsn, '.'), null, try_cast(_source.lsn as bigint))), null) as _first_lsn,
    if(_op = 'r', if(_op = 'r' and _source.lsn is null, 0L, if(contains(_source.lsn, '.'), null, try_cast(_source.lsn as bigint))), null) as _snapshot_lsn,
    if(coalesce(nullif(_source.table, ''), _source.collection) is null, null, concat_ws('.', coalesce(nullif(_source.schema, ''), nullif(_source.db, '')), coalesce(nullif(_source.table, ''), _source.collection))) as _table,
    array_except(
      if(_is_json, if(_op = 'd', json_object_keys(if(
    _is_wrapped,
    get_json_object(_json_line, '$.payload.before'),
    get_json_object(_json_line, '$.before')
  )), map_keys(_after)), null),
      array('id', 'amount', 'at')
    ) as _unknown_fields,
    _batch,
    _file,
    _block_start,
    _raw_line,
    case
      when not _is_json and _raw_line rlike r'^[\s\uFEFF]*+(?:null)?[\s\uFEFF]*+$' then null
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
      when _members['"'] is not null or size(array_distinct(map_keys(_after))) < size(_after)
        then 'row nests deeper than 20 levels or names a field twice'
      when contains(_raw_line, r'\u')
  and (contains(_raw_line, r'\ud') or contains(_raw_line, r'\uD'))
  and _raw_line rlike r'^(?:[^\\]++|\\[^u]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+\\u[dD]' then 'half of a surrogate pair'
      when _passed_over is not null then null
      when _op is null
      and array_contains(json_object_keys(_json_line), 'payload')
      and size(array_except(json_object_keys(_json_line), array('schema', 'payload'))) = 0
      and get_json_object(_json_line, '$.payload') is null then null
      when _op is null then 'op is missing'
      when _op not in ('c', 'r', 'u', 'd', 't') then concat('unknown op ', _op)
      when _op = 'd' and _before is null then 'before image is missing'
      when _op in ('c', 'r', 'u') and _after is null then 'after image is missing'
      when _source.connector is null then 'source.connector is missing'
      when _source.connector not in ('postgresql', 'mysql', 'mariadb', 'mongodb', 'sqlserver', 'oracle') then concat('source.connector is ', _source.connector, ', which has no known order of commits')
      when _source.connector = 'postgresql' and _source.lsn is null and _op <> 'r' then 'source.lsn is missing'
      when _source.connector = 'postgresql' and _source.lsn is not null and if(_op = 'r' and _source.lsn is null, 0L, if(contains(_source.lsn, '.'), null, try_cast(_source.lsn as bigint))) is null then 'source.lsn does not fit bigint'
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
  from (select *, if(_passed_over is null, case _source.connector when 'postgresql' then lpad(cast(if(if(_op = 'r' and _source.lsn is null, 0L, coalesce(try_cast(_source.commit_lsn as bigint), try_cast(nullif(regexp_extract(_source.sequence, '^."?([0-9]+)', 1), '') as bigint), if(_op <> 'r' and _source.sequence is null, null, if(_op = 'r' and _source.lsn is null, 0L, if(contains(_source.lsn, '.'), null, try_cast(_source.lsn as bigint)))))) between 0 and 18014398509481983 and if(_op = 'r' and _source.lsn is null, 0L, if(contains(_source.lsn, '.'), null, try_cast(_source.lsn as bigint))) between 0 and 18014398509481983, cast(if(_op = 'r' and _source.lsn is null, 0L, coalesce(try_cast(_source.commit_lsn as bigint), try_cast(nullif(regexp_extract(_source.sequence, '^."?([0-9]+)', 1), '') as bigint), if(_op <> 'r' and _source.sequence is null, null, if(_op = 'r' and _source.lsn is null, 0L, if(contains(_source.lsn, '.'), null, try_cast(_source.lsn as bigint)))))) as decimal(17,0)) * cast(18446744073709551616 as decimal(20,0)) + (if(_op = 'r' and _source.lsn is null, 0L, if(contains(_source.lsn, '.'), null, try_cast(_source.lsn as bigint))) - if(_op = 'r' and _source.lsn is null, 0L, coalesce(try_cast(_source.commit_lsn as bigint), try_cast(nullif(regexp_extract(_source.sequence, '^."?([0-9]+)', 1), '') as bigint), if(_op <> 'r' and _source.sequence is null, null, if(_op = 'r' and _source.lsn is null, 0L, if(contains(_source.lsn, '.'), null, try_cast(_source.lsn as bigint)))))) + if(_op = 'r', 0L, 4611686018427387904L) + if(_op = 'd', 0L, 1L)), null) as string), 38, '0') when 'mysql' then lpad(if(_op = 'r' and _source.file is null, '0', concat(nullif(regexp_extract(_source.file, '[.]([0-9]{1,15})$', 1), ''), if(_source.pos rlike '^[0-9]{1,12}$', lpad(_source.pos, 12, '0'), null), if(coalesce(_source.row, '0') rlike '^[0-9]{1,6}$', lpad(coalesce(_source.row, '0'), 6, '0'), null), if(_op = 'd', '0', '1'))), 38, '0') when 'mariadb' then lpad(if(_op = 'r' and _source.file is null, '0', concat(nullif(regexp_extract(_source.file, '[.]([0-9]{1,15})$', 1), ''), if(_source.pos rlike '^[0-9]{1,12}$', lpad(_source.pos, 12, '0'), null), if(coalesce(_source.row, '0') rlike '^[0-9]{1,6}$', lpad(coalesce(_source.row, '0'), 6, '0'), null), if(_op = 'd', '0', '1'))), 38, '0') when 'mongodb' then lpad(if(_op = 'r' and _source.ord is null, '0', concat(cast(try_cast(_source.ts_ms as bigint) div 1000 as string), if(_source.ord rlike '^[0-9]{1,10}$', lpad(_source.ord, 10, '0'), null), if(_op = 'd', '0', '1'))), 38, '0') when 'sqlserver' then lpad(concat(if(if(_op = 'r', coalesce(_source.commit_lsn, '0:0:0'), _source.commit_lsn) rlike '^[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,4}$', concat(lpad(conv(split(if(_op = 'r', coalesce(_source.commit_lsn, '0:0:0'), _source.commit_lsn), ':')[0], 16, 10), 10, '0'), lpad(conv(split(if(_op = 'r', coalesce(_source.commit_lsn, '0:0:0'), _source.commit_lsn), ':')[1], 16, 10), 10, '0'), lpad(conv(split(if(_op = 'r', coalesce(_source.commit_lsn, '0:0:0'), _source.commit_lsn), ':')[2], 16, 10), 5, '0')), null), if(coalesce(_source.change_lsn, '0:0:0') rlike '^[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,4}$', concat(lpad(conv(split(coalesce(_source.change_lsn, '0:0:0'), ':')[0], 16, 10), 10, '0'), lpad(conv(split(coalesce(_source.change_lsn, '0:0:0'), ':')[1], 16, 10), 10, '0'), lpad(conv(split(coalesce(_source.change_lsn, '0:0:0'), ':')[2], 16, 10), 5, '0')), null), if(coalesce(_source.event_serial_no, '0') rlike '^[0-9]{1,10}$', lpad(coalesce(_source.event_serial_no, '0'), 10, '0'), null), if(_op = 'd', '0', '1')), 76, '0') when 'oracle' then lpad(concat(if(if(_op = 'r', coalesce(_source.scn, '0'), _source.commit_scn) rlike '^[0-9]{1,20}$', lpad(if(_op = 'r', coalesce(_source.scn, '0'), _source.commit_scn), 20, '0'), null), if(coalesce(_source.scn, '0') rlike '^[0-9]{1,20}$', lpad(coalesce(_source.scn, '0'), 20, '0'), null), if(coalesce(substring(nullif(trim(_source.rs_id), ''), 3), '0.0.0') rlike '^[0-9a-fA-F]{1,8}[.][0-9a-fA-F]{1,8}[.][0-9a-fA-F]{1,4}$', concat(lpad(conv(split(coalesce(substring(nullif(trim(_source.rs_id), ''), 3), '0.0.0'), '[.]')[0], 16, 10), 10, '0'), lpad(conv(split(coalesce(substring(nullif(trim(_source.rs_id), ''), 3), '0.0.0'), '[.]')[1], 16, 10), 10, '0'), lpad(conv(split(coalesce(substring(nullif(trim(_source.rs_id), ''), 3), '0.0.0'), '[.]')[2], 16, 10), 5, '0')), null), if(coalesce(_source.ssn, '0') rlike '^[0-9]{1,6}$', lpad(coalesce(_source.ssn, '0'), 6, '0'), null), if(_op = 'd', '0', '1')), 76, '0') end, null) as _version from typed)
