with images as (
    select
    *,
    _values[0] as _value,
    coalesce(size(_values) = 2 and _values[1]['_dbt_end'] = 'true' and _values[0] is not null, false) as _is_json
  from (
    select *, if(
    not coalesce(size(_parsed) = 2 and _parsed[1]['_dbt_end'] = 'true' and _parsed[0] is not null, false),
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
    'array<map<string, string>>',
    map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false', 'maxStringLen', '2147483647', 'maxNumLen', '2147483647', 'maxNestingDepth', '900')
  ),
    _parsed
  ) as _exact
    from (select *, from_json(
    concat('[', _json_line, ',{"_dbt_end":true}]'),
    'array<map<string, string>>',
    map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false', 'maxStringLen', '2147483647', 'maxNumLen', '2147483647', 'maxNestingDepth', '900')
  ) as _parsed
  from (
    select *, if(startswith(_raw_line, '\uFEFF'), substr(_raw_line, 2), _raw_line) as _json_line
    from (select
    value as _raw_line,
    cast(batch as bigint) as _batch,
    if(contains(_metadata.file_path, '%'), url_decode(replace(substring_index(_metadata.file_path, '/', -3), '+', '%2B')), substring_index(_metadata.file_path, '/', -3)) as _file,
    _metadata.file_block_start as _block_start
  from landing.orders)
  ))
  )
  lateral view explode(array(_exact)) as _values
  ),
  typed as (
    select
      *,
      if(
        _is_json and not false,
        if(
    false,
    array_except(
      array(),
      array_append(coalesce(map_keys(_value), cast(array() as array<string>)), null)
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
      struct(
        if(contains(_text_id, '.'), null, try_cast(_text_id as bigint)),
        if(_text_at rlike '^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6}0*)?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?$', try_cast(_text_at as timestamp), null)
      ) as _typed
    from (
      select
        *,
        array('__debezium_unavailable_value', base64(cast('__debezium_unavailable_value' as binary)), lower(hex('__debezium_unavailable_value')), hex('__debezium_unavailable_value'),
  '["__debezium_unavailable_value"]', '{"__debezium_unavailable_value":"__debezium_unavailable_value"}', '{"__debezium_unavailable_value": "__debezium_unavailable_value"}', '[95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117,101]', '[95, 95, 100, 101, 98, 101, 122, 105, 117, 109, 95, 117, 110, 97, 118, 97, 105, 108, 97, 98, 108, 101, 95, 118, 97, 108, 117, 101]', '["b68a35a7-17ad-35b3-af2a-ae46edb4545a"]') as _placeholders,
        _value['id'] as _text_id,
        _value['at'] as _text_at
      from (
        select *, cast(null as map<string, string>) as _members
        from images
      )
    )
  )
  lateral view inline(array(_typed)) as id, at
    )
  )
  select
    id,
    at,
    _version,
    false as _is_deleted,
    _missing_fields as _missing_fields,
    cast(null as string) as _ignored,
    if(
      _has_known_fields,
      cast(array() as array<string>),
      array_except(
        if(_is_json, map_keys(_value), null),
        array('id', 'at')
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
      when _members['"'] is not null
        or not _has_known_fields and size(array_distinct(map_keys(_value))) < size(_value)
        then 'row nests deeper than 20 levels or names a field twice'
      when contains(_raw_line, r'\u')
  and (contains(_raw_line, r'\ud') or contains(_raw_line, r'\uD'))
  and _raw_line rlike r'^(?:[^\\]++|\\[^u]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+\\u[dD]' then 'half of a surrogate pair'
      when _text_at is null then 'version at is null'
      when _text_id is null then 'key id is null'
      when array_contains(_placeholders, _text_id) then 'id is unavailable'
      when _text_id is not null and id is null then 'id does not fit bigint'
      when array_contains(_placeholders, _text_at) then 'at is unavailable'
      when _text_at is not null and at is null then 'at does not fit timestamp'
      when at not between cast('1900-01-01 00:00:00Z' as timestamp) and cast('2299-12-31 23:59:59.999999Z' as timestamp) then 'at is outside 1900-01-01 00:00:00Z to 2299-12-31 23:59:59.999999Z'
      when false then null
      when get(_missing_fields, 0) is not null then concat('', get(_missing_fields, 0), ' is missing')
    end as _reason
  from (
    select
      *,
      if(_is_json, at, null) as _version,
      coalesce(map_keys(_value) = array('id', 'at'), false)
        as _has_known_fields
    from typed
  )
