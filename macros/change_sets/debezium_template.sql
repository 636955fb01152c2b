{# Most lines of a stream have one shape: the same fields in the same order, with simple values. A regular expression
   takes the values out of these lines. It is made from the shape of some lines and from the declared columns, and costs
   a third of what it costs to read the lines as JSON. Lines that it does not match, and those whose values might have a
   problem, are left to the parser itself (parse_lines). If the stream has several tables, the expression also matches
   most lines of the others. #}

{# The arguments of a parser, as a comment in its SQL. A slash would begin or end a comment. #}
{% macro get_template_comment(arguments) %}
  {%- do return('/* template ' ~ tojson(arguments) | replace('/', '\\u002f') ~ ' */') -%}
{% endmacro %}

{# The arguments of the parser that made the SQL; none if it has no template. #}
{% macro get_template_arguments(parser) %}
  {%- for found in modules.re.findall('(?s)/\\* template (\\{.*?\\}) \\*/', parser) -%}
    {%- do return(fromjson(found)) -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}

{# What lines of a stream have in common, given some of them: the connector, the names of the fields in their order, and
   which columns may be nested. None if no line is an envelope of a known connector whose row has all columns. The
   placeholder of a value that was not sent means one thing in the key before a change, and another in the key after. #}
{% macro get_template_shape(lines, arguments) %}
  {%- set found = namespace(shape=none) -%}
  {%- for line in lines -%}
    {%- set shape = versioned_collapsing._get_shape_of_line(line, arguments) -%}
    {%- if found.shape and shape and dict(shape, nested=[]) == dict(found.shape, nested=[]) -%}
      {%- set found.shape = dict(shape, nested=(shape.nested + found.shape.nested) | unique | list) -%}
    {%- elif not found.shape -%}
      {%- set found.shape = shape -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(found.shape) -%}
{% endmacro %}

{% macro _get_shape_of_line(line, arguments) %}
  {%- set event = fromjson(line, none) -%}
  {%- set known = ['before', 'after', 'source', 'op', 'transaction', 'ts_ms', 'ts_us', 'ts_ns'] -%}
  {%- if event is not mapping or known[:4] | reject('in', event) | list or event | reject('in', known) | list -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set row = event.after or event.before -%}
  {#- Both images count: Java's stack of one megabyte holds rows of 200 fields. -#}
  {%- if row is not mapping or event.source is not mapping or arguments.columns | reject('in', row) | list
      or row | length > 60 -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set connector = event.source.get('connector') -%}
  {%- if connector not in versioned_collapsing.get_debezium_orders().connectors
      or arguments.key | select('in', arguments.toasted) | list -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- for name in row | list + event.source | list if not modules.re.match('[A-Za-z0-9_]+$', name) -%}
    {%- do return(none) -%}
  {%- endfor -%}
  {%- set nested = [] -%}
  {%- for name, value in row.items() if value is mapping or value is sequence and value is not string -%}
    {%- do nested.append(name) -%}
  {%- endfor -%}
  {%- do return({
      'event': event | list,
      'row': row | list,
      'source': event.source | list,
      'nested': nested,
      'connector': connector,
      'space': ' ' if modules.re.match('[{]"[a-z_]+": ', line) else '',
  }) -%}
{% endmacro %}

{# The lines of a stream as parse_debezium returns them. A line that the template does not match has the reason of
   get_is_other_form_sql; a blank one has none. Control characters, which no line of JSON has, separate the values that
   the expression takes out. An empty text stands for null: strings keep their quotes. #}
{% macro get_template_sql(arguments, shape, lines) -%}
  {%- set columns, key, version = arguments.columns, arguments.key, arguments.version -%}
  {%- set places = versioned_collapsing.get_places(key, columns, version) -%}
  {%- set values = {} -%}
  {%- for name, type in columns.items() -%}
    {%- do values.update({name: versioned_collapsing._get_template_value(name, type, arguments, shape)}) -%}
  {%- endfor -%}
  {%- set template = versioned_collapsing._get_template(arguments, shape, places, values) -%}
  {%- set parts = template.parts -%}
  {%- set lsn_columns = versioned_collapsing.get_lsn_columns(version) -%}
  {%- set order = version or versioned_collapsing.get_debezium_orders().connectors[shape.connector] -%}
  select
    {%- for name in columns %}
    {{ name }},
    {%- endfor %}
    _version,
    _op = 'd' as _is_deleted,
    if(_op is null, null, false) as _is_truncate,
    _key_before,
    if(_op <> 'd', cast(array() as array<string>), null) as _missing_fields,
    _ignored,
    {{ versioned_collapsing.get_event_time_sql(version) }} as _event_ms,
    {%- if lsn_columns %}
    {{ versioned_collapsing.get_first_transaction_lsn_sql() }} as _first_lsn,
    {{ versioned_collapsing.get_initial_snapshot_lsn_sql() }} as _snapshot_lsn,
    {%- endif %}
    {{ versioned_collapsing.get_source_table_sql() }} as _table,
    filter(
      cast(array({{ versioned_collapsing.get_texts(
          "if(_is_unset_{}, '{}', null)", arguments.toasted
      ) | join(', ') }}) as array<string>),
      name -> name is not null
    ) as _unset,
    if(_op is null, null, cast(
      array({{ versioned_collapsing.quote_literals(shape.row | reject('in', columns) | list) }}) as array<string>
    )) as _unknown_fields,
    _batch,
    _file,
    _block_start,
    _raw_line,
    case
      when _op is null then if({{ versioned_collapsing.get_is_blank_sql('_raw_line') }}, null, 'another form')
      when _ignored is not null then null
      when {{ versioned_collapsing._get_template_conditions(
          arguments, order, places, values, parts
      ) | join('\n        or ') }} then 'another form'
    end as _reason
  from (
    select
      *,
      if(
        _ignored is null,
        {{ versioned_collapsing.get_debezium_version_sql(order, arguments.servers, arguments.epochs) }},
        null
      ) as _version,
      if(
        _op = 'u' and ({{ versioned_collapsing.get_texts('_dbt_texts_before.{} <> _text_{}', key) | join(' or ') }}),
        nullif(_dbt_values_before, struct({{ key | join(', ') }})),
        null
      ) as _key_before
    from (
      select
        *,
        {%- for name, value in values.items() %}
        {{ value.typed | replace('_dbt_text', '_text_' ~ name) }} as {{ name }},
        {%- endfor %}
        {%- for name, lsn in lsn_columns.items() %}
        {{ lsn }} as {{ name }},
        {%- endfor %}
        {%- if arguments.tables %}
        if(
          not {{ versioned_collapsing.get_is_of_table_sql(arguments.tables) }},
          concat('table ', {{ versioned_collapsing.get_source_table_sql() }}),
          null
        ) as _ignored,
        {%- else %}
        cast(null as string) as _ignored,
        {%- endif %}
        struct(
          {%- for name in key %}
          {{ values[name].typed | replace('_dbt_text', '_dbt_texts_before.' ~ name) }} as {{ name }}
          {{- ',' if not loop.last }}
          {%- endfor %}
        ) as _dbt_values_before
      from (
        select
          *,
          {%- for name, value in values.items() %}
          {%- set part = parts['after.' ~ name] %}
          {%- if name in places %}
          {%- set part = "if(_op = 'd', " ~ parts['before.' ~ name] ~ ', ' ~ part ~ ')' %}
          {%- endif %}
          {{ value.text | replace('_dbt_part', part) }} as _text_{{ name }},
          {%- if name in arguments.toasted %}
          {{ part }} <> '' and {{ value.text | replace('_dbt_part', part) }} is null as _is_unset_{{ name }},
          {%- endif %}
          {%- endfor %}
          struct(
            {%- for name in key %}
            {{ values[name].text | replace('_dbt_part', parts['before.' ~ name]) }} as {{ name }}
            {{- ',' if not loop.last }}
            {%- endfor %}
          ) as _dbt_texts_before
        from (
          select
            *,
            {{ parts.op }} as _op,
            struct(
              {%- for name in versioned_collapsing.get_source_fields() if name != 'connector' %}
              {%- set part = parts.get('source.' ~ name, 'cast(null as string)') %}
              nullif(replace({{ part }}, r'\"', '"'), '') as {{ name }}{{ ',' if not loop.last }}
              {%- endfor %}
            ) as _source,
            struct(nullif({{ parts.get('total_order', 'cast(null as string)') }}, '') as total_order) as _transaction
          from (
            select *, if(startswith(_split, '\u0001'), split(_split, '\u0001'), null) as _parts
            from (
              select
                *,
                if(
                  startswith(_raw_line, '{') and octet_length(_raw_line) <= 100000 and is_valid_utf8(_raw_line),
                  regexp_replace(
                    _raw_line,
                    r'{{ template.pattern }}',
                    '{{ template.replacement }}'
                  ),
                  null
                ) as _split
              from ({{ lines }})
            )
          )
        )
      )
    )
  )
{%- endmacro %}

{# Why a line that the template matches may have a reason after all. #}
{% macro _get_template_conditions(arguments, order, places, values, parts) %}
  {%- set key, columns = arguments.key, arguments.columns -%}
  {%- set after = parts['after.' ~ key[0]] -%}
  {%- set before = [] -%}
  {%- for name in places -%}
    {%- do before.append(parts['before.' ~ name] ~ " = ''") -%}
  {%- endfor -%}
  {%- set conditions = versioned_collapsing.get_texts('_text_{} is null', places) + [
      "if(_op = 'd', " ~ after ~ " <> '' or " ~ before | join(' or ') ~ ', ' ~ after ~ " = '')",
  ] -%}
  {%- if key | length > 1 -%}
    {%- set is_key_null = before[: key | length] -%}
    {%- do conditions.append(
        "_op = 'u' and (" ~ is_key_null | join(' or ') ~ ') and not (' ~ is_key_null | join(' and ') ~ ')'
    ) -%}
  {%- endif -%}
  {%- if arguments.tables -%}
    {%- do conditions.extend([
        versioned_collapsing.get_source_table_sql() ~ ' is null',
        parts['before.'] ~ " = '{' or " ~ parts['after.'] ~ " = '{'",
    ]) -%}
  {%- endif -%}
  {%- for name in arguments.toasted -%}
    {%- do conditions.append('_key_before is not null and _is_unset_' ~ name) -%}
  {%- endfor -%}
  {%- for condition, reason in versioned_collapsing.get_debezium_version_problems(order, arguments.epochs) -%}
    {%- do conditions.append(condition) -%}
  {%- endfor -%}
  {%- set placeholders = versioned_collapsing.get_placeholders_sql(arguments.unavailable_value) -%}
  {%- for name, value in values.items() if not value.is_certain -%}
    {%- if name not in arguments.toasted -%}
      {%- do conditions.append('_text_' ~ name ~ ' in (' ~ placeholders ~ ')') -%}
    {%- endif -%}
    {%- for condition, reason in versioned_collapsing.get_value_problems(
        name, columns[name], arguments.ranges, is_toasted=true
    ) -%}
      {%- do conditions.append(condition) -%}
    {%- endfor -%}
    {%- if name in key -%}
      {%- do conditions.append(
          '_dbt_texts_before.' ~ name ~ ' is not null and _dbt_values_before.' ~ name ~ ' is null'
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set found = [] -%}
  {%- for condition in conditions -%}
    {%- do found.append('coalesce(' ~ condition ~ ', false)') -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}

{# The expression that matches a line, what replaces the line, and where each value then is (`parts`). Java numbers the
   groups of the expression in their order. #}
{% macro _get_template(arguments, shape, places, values) %}
  {%- set patterns = versioned_collapsing._get_template_patterns(shape.space) -%}
  {%- set groups, fields = [], [] -%}
  {%- for field in shape.event -%}
    {%- set members = [] -%}
    {%- if field in ('before', 'after') -%}
      {%- for name in shape.row -%}
        {%- set value = values.get(name) if field == 'after' or name in places -%}
        {%- set is_required = field == 'after' and name in arguments.required + places -%}
        {%- do groups.extend([field ~ '.' ~ name] * value.groups if value else []) -%}
        {%- set left_out = '(?:' ~ patterns.scalar ~ '|' ~ patterns.nested ~ ')' if name in shape.nested
            else patterns.scalar -%}
        {%- do members.append((name, left_out if not value
            else value.pattern if is_required else '(?:' ~ value.pattern ~ '|null)')) -%}
      {%- endfor -%}
      {%- do groups.extend([field ~ '.'] if arguments.tables else []) -%}
      {%- do fields.append((
          field, '(?:' ~ versioned_collapsing._get_template_object(members, shape.space)
          ~ ('|' ~ patterns.row_of_another_table if arguments.tables) ~ '|null)'
      )) -%}
    {%- elif field == 'source' -%}
      {%- for name in shape.source -%}
        {%- set is_read = name in versioned_collapsing.get_source_fields() -%}
        {%- if name == 'connector' -%}
          {%- do members.append((name, '"' ~ shape.connector ~ '"')) -%}
        {%- else -%}
          {%- do groups.extend(['source.' ~ name] * 2 if is_read else []) -%}
          {%- do members.append((name, patterns.source if is_read else patterns.scalar)) -%}
        {%- endif -%}
      {%- endfor -%}
      {%- do fields.append((field, versioned_collapsing._get_template_object(members, shape.space))) -%}
    {%- elif field == 'transaction' -%}
      {%- do groups.append('total_order') -%}
      {%- set members = [
          ('id', patterns.scalar), ('total_order', patterns.whole), ('data_collection_order', patterns.scalar),
      ] -%}
      {%- do fields.append((
          field, '(?:' ~ versioned_collapsing._get_template_object(members, shape.space) ~ '|null)'
      )) -%}
    {%- else -%}
      {%- do groups.extend(['op'] if field == 'op' else []) -%}
      {%- do fields.append((field, '"([crud])"' if field == 'op' else patterns.scalar)) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set parts, replaced = {}, [] -%}
  {%- for name in groups -%}
    {%- if name not in parts -%}
      {%- do parts.update({name: '_parts[' ~ (parts | length + 1) ~ ']'}) -%}
      {%- do replaced.append('\\u0001') -%}
    {%- endif -%}
    {%- do replaced.append('$' ~ loop.index) -%}
  {%- endfor -%}
  {%- do return({
      'pattern': '^' ~ versioned_collapsing._get_template_object(fields, shape.space) ~ '\\z',
      'replacement': replaced | join,
      'parts': parts,
  }) -%}
{% endmacro %}

{% macro _get_template_object(members, space) %}
  {%- set found = [] -%}
  {%- for name, pattern in members -%}
    {%- do found.append('"' ~ name ~ '":' ~ space ~ pattern) -%}
  {%- endfor -%}
  {%- do return('\\{' ~ found | join(',' ~ space) ~ '\\}') -%}
{% endmacro %}

{# Expressions for JSON values, which match less than there is: no half of a surrogate pair, and no number or name that
   is too long for Spark's functions. Java looks up a character in a table if a class has single characters only. A
   range of them takes four times as long. #}
{% macro _get_template_patterns(space) %}
  {%- set controls = [] -%}
  {%- for number in range(32) -%}
    {%- do controls.append('\\x' ~ number // 16 ~ '0123456789abcdef'[number % 16]) -%}
  {%- endfor -%}
  {%- set characters = '[^"\\\\' ~ controls | join ~ ']' -%}
  {%- set escape -%}\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}){%- endset -%}
  {%- set text = '"' ~ characters ~ '*+(?:' ~ escape ~ characters ~ '*+)*+"' -%}
  {%- set number -%}-?(?:0|[1-9][0-9]{0,99}+)(?:[.][0-9]{1,99}+)?+(?:[eE][+-]?[0-9]{1,9}+)?+{%- endset -%}
  {%- set scalar = '(?:' ~ text ~ '|' ~ number ~ '|true|false|null)' -%}
  {%- set member = '"' ~ characters ~ '{0,999}+":' ~ space ~ scalar -%}
  {%- set array = '\\[(?:' ~ scalar ~ '(?:,' ~ space ~ scalar ~ ')*+)?+\\]' -%}
  {%- set object = '\\{(?:' ~ member ~ '(?:,' ~ space ~ member ~ ')*+)?+\\}' -%}
  {%- set field = '"' ~ characters ~ '{0,999}+":' ~ space ~ '(?:' ~ scalar ~ '|' ~ array ~ '|' ~ object ~ ')' -%}
  {%- do return({
      'row_of_another_table': '(\\{)(?:' ~ field ~ '(?:,' ~ space ~ field ~ ')*+)?+\\}',
      'text': text,
      'number': number,
      'scalar': scalar,
      'object': object,
      'nested': array ~ '|' ~ object,
      'source': '(?:"((?:' ~ characters ~ '++|\\\\")++)"|(-?(?:0|[1-9][0-9]{0,17}))|null)',
      'whole': '(0|[1-9][0-9]{0,17})',
  }) -%}
{% endmacro %}

{# How to read a column: the expression for its value, in a number of groups; its text, made of the part of the line;
   its value, made of the text; and whether each value that the expression matches is one of the type and its range. #}
{% macro _get_template_value(name, type, arguments, shape) %}
  {%- set patterns = versioned_collapsing._get_template_patterns(shape.space) -%}
  {%- set encoding = arguments.encodings.get(name) -%}
  {%- set is_toasted = name in arguments.toasted -%}
  {#- A placeholder that begins with underlines is no number and no time, in none of its forms. -#}
  {%- set pattern = none if is_toasted or arguments.ranges.get(name, 'clamp') != 'clamp'
      or not arguments.unavailable_value.startswith('__')
      else versioned_collapsing._get_certain_pattern(type, encoding) -%}
  {%- if pattern -%}
    {%- set typed = {
        'epoch_days': 'date_from_unix_date(try_cast(_dbt_text as int))',
        'epoch_millis': 'timestamp_micros(try_cast(_dbt_text as bigint) * 1000)',
        'epoch_micros': 'timestamp_micros(try_cast(_dbt_text as bigint))',
        'epoch_nanos': 'timestamp_micros(try_cast(_dbt_text as bigint) div 1000)',
    }.get(encoding, 'try_cast(_dbt_text as ' ~ type ~ ')') -%}
    {%- do return({
        'pattern': pattern,
        'groups': modules.re.findall('\\((?!\\?)', pattern) | length,
        'text': "nullif(_dbt_part, '')",
        'typed': typed,
        'is_certain': true,
    }) -%}
  {%- endif -%}
  {%- set kinds = [patterns.text, patterns.number, 'true', 'false']
      + ([patterns.nested] if name in shape.nested and versioned_collapsing.is_text(type, encoding) else [])
      + ([patterns.object] if encoding == 'precise' else []) -%}
  {%- set text -%}
    if(
      startswith(_dbt_part, '"'),
      if(
        contains(_dbt_part, r'\'),
        from_json(concat('[', _dbt_part, ']'), 'array<string>')[0],
        substr(_dbt_part, 2, length(_dbt_part) - 2)
      ),
      nullif(_dbt_part, '')
    )
  {%- endset -%}
  {%- set typed = versioned_collapsing.get_typed_sql('_dbt_text', type, encoding) -%}
  {%- do return({
      'pattern': '(' ~ kinds | join('|') ~ ')',
      'groups': 1,
      'text': versioned_collapsing.get_text_sql(text, type, encoding, is_toasted, arguments.unavailable_value),
      'typed': versioned_collapsing.get_clamped_sql('_dbt_text', typed, type)
          if arguments.ranges.get(name) == 'clamp' else typed,
      'is_certain': false,
  }) -%}
{% endmacro %}

{# An expression that only values of the type match, within the range that every version of ClickHouse holds, in any
   time zone; none for types whose values need a closer look. Its groups have the text of a value. #}
{% macro _get_certain_pattern(type, encoding) %}
  {%- if versioned_collapsing.get_kind(type) == 'decimal' and encoding is none -%}
    {%- set precision, scale = (modules.re.findall('[0-9]+', type) + ['0'])[:2] | map('int') -%}
    {%- set whole = '[1-9][0-9]{0,' ~ (precision - scale - 1) ~ '}|0' if precision > scale else '0' -%}
    {%- set number = '(-?(?:' ~ whole ~ ')' ~ ('(?:[.][0-9]{1,' ~ scale ~ '})?' if scale) ~ ')' -%}
    {%- do return('(?:"' ~ number ~ '"|' ~ number ~ ')') -%}
  {%- endif -%}
  {%- set day = '(?:19[1-9]|20[0-9]|21[0-9]|22[0-8])[0-9]-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])'
      ~ '|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)' -%}
  {%- set time = '[T ](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:[.][0-9]{1,6})?' -%}
  {%- do return({
      'tinyint': '(-?(?:0|[1-9][0-9]?))',
      'smallint': '(-?(?:0|[1-9][0-9]{0,3}))',
      'int': '(-?(?:0|[1-9][0-9]{0,8}))',
      'bigint': '(-?(?:0|[1-9][0-9]{0,17}))',
      'boolean': '(true|false)',
      'date': '"(' ~ day ~ ')"',
      'timestamp': '"(' ~ day ~ time ~ 'Z?)"',
      'timestamp_ntz': '"(' ~ day ~ time ~ ')"',
      'epoch_days': '(-?(?:0|[1-9][0-9]{0,3})|[1-9][0-9]{4})',
      'epoch_millis': '(-?(?:0|[1-9][0-9]{0,11})|[1-9][0-9]{12})',
      'epoch_micros': '(-?(?:0|[1-9][0-9]{0,14})|[1-9][0-9]{15})',
      'epoch_nanos': '(0|-?[1-9][0-9]{0,14}000|[1-8][0-9]{15}000)',
  }.get(encoding or type)) -%}
{% endmacro %}
