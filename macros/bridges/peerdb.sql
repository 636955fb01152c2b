{# A ClickPipe for PostgreSQL, MySQL or another database is PeerDB's. #}
{% macro clickpipes_changes(
    landing, raw=none, overlap='1 hour', through=none, binary=[], renamed={}, own=[],
    is_deleted='_peerdb_is_deleted', version='_peerdb_version', watermark='_peerdb_synced_at'
) -%}
  {{ versioned_collapsing.peerdb_changes(
      landing, raw, overlap, through, binary, renamed, own, is_deleted, version, watermark
  ) }}
{%- endmacro %}

{# The change set in a table that PeerDB lands, or a ClickPipe for PostgreSQL or MySQL. With `raw`, the raw table of the
   mirror, the run reads changes there. The raw table has the deletes, old keys and unchanged columns that the landed
   table may lack. `names` in the arguments are those of PeerDB's own columns, of which a mirror can rename two. #}
{% macro peerdb_changes(
    landing, raw=none, overlap='1 hour', through=none, binary=[], renamed={}, own=[],
    is_deleted='_peerdb_is_deleted', version='_peerdb_version', watermark='_peerdb_synced_at'
) -%}
  {%- if not execute -%}{%- do return(versioned_collapsing.get_unread_landing_sql()) -%}{%- endif -%}
  {%- set found = versioned_collapsing.read_landing(landing) -%}
  {%- do versioned_collapsing.validate_landed_names(
      found, {'binary': binary | list, 'renamed': renamed | list, 'own': own}
  ) -%}
  {%- set names = {'version': version, 'is_deleted': is_deleted, 'watermark': watermark} -%}
  {%- set layout = versioned_collapsing.get_peerdb_layout(found, names, own) -%}
  {%- do versioned_collapsing.validate_peerdb_landing(found, layout, names, raw) -%}
  {%- if raw is none -%}
    {{ versioned_collapsing.get_landed_changes_sql(found, dict(
        layout, condition=versioned_collapsing.read_range(found, layout.watermark, overlap, through)
    )) }}
  {%- else -%}
    {%- set key = versioned_collapsing.get_source_key(model) -%}
    {%- do versioned_collapsing.validate_bridge_key(key) -%}
    {%- set fields = versioned_collapsing.get_peerdb_fields(found, layout, renamed, binary) -%}
    {%- set raw_found = versioned_collapsing.read_peerdb_raw(found, raw, overlap, through) -%}
    {%- if versioned_collapsing.is_building() -%}
      {%- do versioned_collapsing.validate_peerdb_fields(found, raw_found, fields) -%}
      {%- do versioned_collapsing.validate_peerdb_values(found, layout, raw_found, fields, key) -%}
    {%- endif -%}
    {{ versioned_collapsing.get_peerdb_raw_changes_sql(found, layout, raw_found, fields, key) }}
  {%- endif -%}
{%- endmacro %}

{% macro get_peerdb_layout(found, names, own) %}
  {%- set own = (names.values() | list + own) | map('lower') | list -%}
  {%- do return({
      'payload': versioned_collapsing.get_landed_payload(found, own),
      'version': versioned_collapsing.get_landed_column(found, [names.version | lower]),
      'is_deleted': versioned_collapsing.get_landed_column(found, [names.is_deleted | lower]),
      'watermark': versioned_collapsing.get_landed_column(found, [names.watermark | lower]),
      'control': {},
  }) -%}
{% endmacro %}

{% macro validate_peerdb_landing(found, layout, names, raw) %}
  {%- set needed = [('version', 'the version', 'version'), ('is_deleted', 'the deletes', 'is_deleted')]
      + ([('watermark', 'the time at which a row landed', 'watermark or raw')] if raw is none else []) -%}
  {%- for name, what, argument in needed -%}
    {%- do versioned_collapsing.validate_landed_column(found, layout[name], what, [names[name]], argument) -%}
  {%- endfor -%}
{% endmacro %}

{# The columns to read from the raw table: for each landed column, its type, its name in the source, and the format of a
   column of bytes. #}
{% macro get_peerdb_fields(found, layout, renamed, binary) %}
  {%- set fields = {} -%}
  {%- for column in found.columns if column.name in layout.payload -%}
    {%- do fields.update({column.name: {
        'type': column.type,
        'source': renamed.get(column.name, column.name),
        'bytes': (binary[column.name] if binary is mapping else 'raw') if column.name in binary else none,
    }}) -%}
  {%- endfor -%}
  {%- do return(fields) -%}
{% endmacro %}

{# The rows of one landed table in the raw table of a mirror. The raw table keeps them only for some time, so older rows
   must be read from the landed table: always if nothing has been read yet, and if the raw table has lost rows above the
   watermark. #}
{% macro read_peerdb_raw(found, raw, overlap, through) %}
  {%- set raw_found = versioned_collapsing.read_landing(raw) -%}
  {%- set is_of_table = '_peerdb_destination_table_name = '
      ~ versioned_collapsing.quote_literal(found.relation.identifier) -%}
  {%- set watermark = "fromUnixTimestamp64Nano(_peerdb_timestamp, 'UTC')" -%}
  {%- set last = versioned_collapsing.read_watermark(raw_found.name, this, model) -%}
  {%- set type = "DateTime64(9, 'UTC')" -%}
  {%- set is_read = versioned_collapsing.get_range_sql(watermark, type, none, overlap, last.text)
      if last.text else 'false' -%}
  {%- do return(dict(
      raw_found,
      condition=is_of_table ~ ' and ' ~ versioned_collapsing.read_range(
          raw_found, watermark, overlap, through, keeps_all=false
      ),
      watermark=watermark,
      is_of_table=is_of_table,
      is_whole=versioned_collapsing.read_row_count(raw_found.relation, is_read) > 0
  )) -%}
{% endmacro %}

{# Each column must be in the raw rows that this run reads: in one of the newest thousand that are not deletes. #}
{% macro validate_peerdb_fields(found, raw, fields) %}
  {%- set query = versioned_collapsing._get_peerdb_fields_seen_sql(raw, fields)
      ~ ' ' ~ versioned_collapsing.get_settings_sql() -%}
  {%- set seen = run_query(query).rows[0] -%}
  {%- set problems = [] -%}
  {%- if seen['_dbt_n'] | int -%}
    {%- set known = fields.values() | map(attribute='source') | list -%}
    {%- set more = fromjson(seen['_dbt_names']) | reject('in', known) | sort -%}
    {%- for name, field in fields.items() -%}
      {%- if field.source is not none and not seen['_dbt_' ~ loop.index] | int -%}
        {%- do problems.append(versioned_collapsing._get_missing_field_message(found, raw, name, field, more)) -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'a change set') -%}
{% endmacro %}

{% macro _get_peerdb_fields_seen_sql(raw, fields) -%}
  select
    count() as _dbt_n,
    {%- for field in fields.values() %}
    {%- set source = versioned_collapsing._get_peerdb_field_sql(field) %}
    countIf(
      JSONHas(_peerdb_data, {{ source }}) or has(splitByChar(',', _peerdb_unchanged_toast_columns), {{ source }})
    ) as _dbt_{{ loop.index }},
    {%- endfor %}
    toJSONString(groupUniqArrayArray(JSONExtractKeys(_peerdb_data))) as _dbt_names
  from (
    select _peerdb_data, _peerdb_unchanged_toast_columns
    from {{ raw.relation }}
    where {{ raw.condition }} and _peerdb_record_type <> 2
    order by _peerdb_timestamp desc
    limit 1000
  )
{%- endmacro %}

{% macro _get_peerdb_field_sql(field) %}
  {%- do return(versioned_collapsing.quote_literal('' if field.source is none else field.source)) -%}
{% endmacro %}

{% macro _get_missing_field_message(found, raw, name, field, more) %}
  {%- do return(
      found.relation ~ " has the column " ~ name ~ ", but no row of " ~ raw.relation ~ " that this run reads has "
      ~ field.source ~ ". " ~ ("The rows also have " ~ more | join(', ') ~ ". " if more else "")
      ~ "If the mirror renames the column, pass renamed={'" ~ name ~ "': '" ~ (more | first | default('name_in_source'))
      ~ "'}. If the source has dropped it, pass renamed={'" ~ name ~ "': none}: new rows get its default then, as "
      ~ "PeerDB lands them. If it is a column of your own, pass own=['" ~ name ~ "']."
  ) -%}
{% endmacro %}

{# What this run reads from the raw table must equal what PeerDB has landed, as far as the landed table still has the
   same versions. A column that differs in all rows has a format that the tables do not show; single rows that differ
   were altered. #}
{% macro validate_peerdb_values(found, layout, raw, fields, key) %}
  {%- set query = versioned_collapsing._get_peerdb_values_sql(found, layout, raw, fields, key)
      ~ ' ' ~ versioned_collapsing.get_settings_sql() -%}
  {%- set differences = run_query(query).rows[0] -%}
  {%- set problems = [] -%}
  {%- for name in fields -%}
    {%- set differing = differences['_dbt_differing_' ~ loop.index] | int -%}
    {%- set landed = found.relation ~ " has other values of " ~ name ~ " than " ~ raw.relation ~ " in "
        ~ differing ~ " of the newest rows of the same version, such as " ~ differences['_dbt_landed_' ~ loop.index]
        ~ " for " ~ differences['_dbt_raw_' ~ loop.index] ~ "." -%}
    {%- if differing and not differences['_dbt_same_' ~ loop.index] | int -%}
      {%- do problems.append(
          landed ~ " If it is a column of bytes, pass binary=['" ~ name ~ "'], or binary={'" ~ name ~ "': 'hex'} if "
          ~ "PeerDB lands bytes so. If the landed rows were altered, alter the rows of the raw table alike, or pass "
          ~ "own=['" ~ name ~ "'] to leave the column out."
      ) -%}
    {%- elif differing -%}
      {%- do exceptions.warn(
          landed ~ " The model has the value of the raw table. If the landed rows were altered, alter the rows of the "
          ~ "raw table alike."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'a change set') -%}
{% endmacro %}

{% macro _get_peerdb_values_sql(found, layout, raw, fields, key) -%}
  {%- set known_key = key | select('in', fields) | list -%}
  {%- set newest -%}
    (
      {{- versioned_collapsing._get_peerdb_rows_sql(raw, fields, key) }}
    )
    where not _dbt_is_old and _peerdb_record_type <> 2
    order by _peerdb_timestamp desc
    limit 1000
  {%- endset -%}
  select
    {%- for name, field in fields.items() %}
    {%- set i = loop.index %}
    {%- set differs = '_dbt_landed.' ~ i ~ ' is distinct from _dbt_raw.' ~ i %}
    {%- set default = versioned_collapsing.quote_literal(versioned_collapsing.get_base_type(field.type)) %}
    countIf({{ differs }}) as _dbt_differing_{{ i }},
    countIf(
      not ({{ differs }}) and _dbt_raw.{{ i }} <> toString(defaultValueOfTypeName({{ default }}))
    ) as _dbt_same_{{ i }},
    anyIf(_dbt_landed.{{ i }}, {{ differs }}) as _dbt_landed_{{ i }},
    anyIf(_dbt_raw.{{ i }}, {{ differs }}) as _dbt_raw_{{ i }}
    {{- ',' if not loop.last }}
    {%- endfor %}
  from (
    select
      tuple({{ versioned_collapsing.quote_names(known_key) or 1 }}) as _dbt_key,
      toUInt64(_peerdb_timestamp) as _dbt_version,
      tuple({{ versioned_collapsing._get_texts_sql(fields) }}) as _dbt_raw
    from {{ newest }}
  ) as _dbt_newest
  inner join (
    select
      tuple({{ versioned_collapsing.quote_names(known_key) or 1 }}) as _dbt_key,
      toUInt64({{ layout.version }}) as _dbt_version,
      tuple({{ versioned_collapsing._get_texts_sql(fields) }}) as _dbt_landed
    from {{ found.relation }}
    where {{ layout.version }} in (select toUInt64(_peerdb_timestamp) from {{ newest }})
      {%- if known_key %}
      and ({{ versioned_collapsing.quote_names(known_key) }}) in (
        select {{ versioned_collapsing.quote_names(known_key) }} from {{ newest }}
      )
      {%- endif %}
  ) as _dbt_landing using (_dbt_key, _dbt_version)
{%- endmacro %}

{# The rows of the raw table that this run reads, with their values as columns. PeerDB pins the two settings. #}
{% macro _get_peerdb_rows_sql(raw, fields, key) %}
    select
      {{ raw.all_columns }},
      _dbt_is_old,
      if(_dbt_is_old, _peerdb_match_data, _peerdb_data) as _dbt_data,
      {%- for name, field in fields.items() %}
      {{ versioned_collapsing._get_peerdb_value_sql('_dbt_data', field) }}
        as {{ versioned_collapsing.quote_name(name) }}{{ ',' if not loop.last }}
      {%- endfor %}
    from {{ raw.relation }}
    array join if(
      _peerdb_record_type = 1 and ({{ versioned_collapsing._get_peerdb_key_differs_sql(fields, key) }}),
      [false, true],
      [false]
    ) as _dbt_is_old
    where {{ raw.condition }}
    settings json_type_escape_dots_in_keys = 1, type_json_skip_duplicated_paths = 1
{%- endmacro %}

{# A value of a row's JSON, as PeerDB lands it. The rules are those of `BuildQuery` in PeerDB's `normalize_query.go`. A
   null that its column cannot hold becomes what an insert makes of it. #}
{% macro _get_peerdb_value_sql(data, field) %}
  {%- set text = 'JSONExtractString(' ~ data ~ ', ' ~ versioned_collapsing._get_peerdb_field_sql(field) ~ ')' -%}
  {%- set base = versioned_collapsing.get_base_type(field.type) -%}
  {%- set value = 'JSONExtract(' ~ data ~ ', ' ~ versioned_collapsing._get_peerdb_field_sql(field) ~ ', '
      ~ versioned_collapsing.quote_literal(field.type) ~ ')' -%}
  {%- if field.bytes is not none -%}
    {%- set value = 'base64Decode(' ~ text ~ ')' -%}
    {%- set value = 'hex(' ~ value ~ ')' if field.bytes == 'hex' else value -%}
  {%- elif base.startswith('DateTime64(6') -%}
    {#- If the mirror is older than the type Time64, a time is landed as a time on the first day. -#}
    {%- set value = 'if(match(' ~ text ~ ", '^-?[0-9]+:'), toDateTime64(toTime64OrNull(" ~ text ~ ', 6), 6), '
        ~ versioned_collapsing._get_peerdb_time_sql(text) ~ ')' -%}
  {%- elif base == 'Date32' -%}
    {%- set value = 'toDate32(' ~ versioned_collapsing._get_peerdb_time_sql(text) ~ ')' -%}
  {%- elif base.startswith('Time64(6') -%}
    {%- set value = 'toTime64OrNull(' ~ text ~ ', 6)' -%}
  {%- elif base.startswith('Array(DateTime64(6') -%}
    {%- set value = 'arrayMap(x -> ifNull(' ~ versioned_collapsing._get_peerdb_time_sql('x')
        ~ ", toDateTime64(0, 6, 'UTC')), JSONExtract(" ~ data ~ ', '
        ~ versioned_collapsing._get_peerdb_field_sql(field) ~ ", 'Array(String)'))" -%}
  {%- elif base.startswith('JSON') -%}
    {%- set value = 'nullIf(' ~ text ~ ", '')" -%}
  {%- else -%}
    {%- do return(value) -%}
  {%- endif -%}
  {%- if not versioned_collapsing.is_nullable_type(field.type) and not base.startswith('Array(') -%}
    {%- set value = 'ifNull(' ~ value ~ ', '
        ~ ("'{}'" if base.startswith('JSON')
           else 'defaultValueOfTypeName(' ~ versioned_collapsing.quote_literal(base) ~ ')') ~ ')' -%}
  {%- endif -%}
  {%- do return('cast(' ~ value ~ ', ' ~ versioned_collapsing.quote_literal(field.type) ~ ')') -%}
{% endmacro %}

{# A time as PeerDB lands it: years before 1900 become 1900, and years after 2299 become 2299, on the first or last day
   of the year, at the same time of day. #}
{% macro _get_peerdb_time_sql(text) %}
  {%- set time = 'parseDateTime64BestEffortOrNull(' ~ text ~ ", 6, 'UTC')" -%}
  {%- set of_day = "positiveModulo(toUnixTimestamp64Micro(" ~ time ~ '), toInt64(86400000000))' -%}
  {%- do return(
      "multiIf(" ~ time ~ " < toDateTime64('1900-01-01 00:00:00', 6, 'UTC'), addMicroseconds(toDateTime64("
      ~ "'1900-01-01 00:00:00', 6, 'UTC'), " ~ of_day ~ '), ' ~ time
      ~ " > toDateTime64('2299-12-31 23:59:59.999999', 6, 'UTC'), addMicroseconds(toDateTime64("
      ~ "'2299-12-31 00:00:00', 6, 'UTC'), " ~ of_day ~ '), ' ~ time ~ ')'
  ) -%}
{% endmacro %}

{% macro _get_peerdb_key_differs_sql(fields, key) %}
  {%- set differs = [] -%}
  {%- for name in key if name in fields -%}
    {%- set source = versioned_collapsing._get_peerdb_field_sql(fields[name]) -%}
    {%- do differs.append(
        'JSONHas(_peerdb_match_data, ' ~ source ~ ') and JSONExtractRaw(_peerdb_match_data, ' ~ source
        ~ ') <> JSONExtractRaw(_peerdb_data, ' ~ source ~ ')'
    ) -%}
  {%- endfor -%}
  {%- do return(differs | join(' or ') or 'false') -%}
{% endmacro %}

{% macro _get_texts_sql(names) %}
  {%- set texts = [] -%}
  {%- for name in names -%}{%- do texts.append('toString(' ~ versioned_collapsing.quote_name(name) ~ ')') -%}
  {%- endfor -%}
  {%- do return(texts | join(', ')) -%}
{% endmacro %}

{# An update of the key has the old key in `_peerdb_match_data`. Its row is deleted just before, as PeerDB does if it is
   told to. Everything from before the raw table begins is in the landed table. #}
{% macro get_peerdb_raw_changes_sql(found, layout, raw, fields, key) -%}
  {%- set stop = 'if(count() = 0, toUInt64(-1), toUInt64(min(_peerdb_timestamp)))' -%}
  {%- if not raw.is_whole -%}
  {{ versioned_collapsing.get_landed_changes_sql(raw, dict(
      layout,
      rows=found.relation,
      columns=found.all_columns,
      condition=layout.version ~ ' < (select ' ~ stop ~ ' from ' ~ raw.relation ~ ' where ' ~ raw.is_of_table ~ ')',
      version='toUInt64(' ~ layout.version ~ ')',
      is_deleted='toBool(' ~ layout.is_deleted ~ ')',
      watermark="cast(null as Nullable(DateTime64(9, 'UTC')))",
      control={'_unset': "cast([] as Array(String))", '_synthetic': 'toUInt8(0)'}
  )) }}
  union all
  {%- endif %}
  select
    {{ versioned_collapsing.quote_names(fields) }},
    toUInt64(_peerdb_timestamp - _dbt_is_old) as _version,
    _dbt_is_old or _peerdb_record_type = 2 as _is_deleted,
    if(
      _peerdb_record_type = 1 and not _dbt_is_old,
      {{ versioned_collapsing._get_peerdb_unset_sql(fields) }},
      []
    ) as _unset,
    toUInt8(_dbt_is_old) as _synthetic,
    {{ versioned_collapsing.get_watermark_columns_sql(raw, 'cast(' ~ raw.watermark
        ~ " as Nullable(DateTime64(9, 'UTC')))") }}
  from (
    {{- versioned_collapsing._get_peerdb_rows_sql(raw, fields, key) }}
  )
{%- endmacro %}

{# The landed names of the columns that an update lacks. The raw table has the source's names, including those of
   columns that the mirror leaves out. #}
{% macro _get_peerdb_unset_sql(fields) %}
  {%- set sources = [] -%}
  {%- set names = [] -%}
  {%- for name, field in fields.items() if field.source is not none -%}
    {%- do sources.append(field.source) -%}
    {%- do names.append(name) -%}
  {%- endfor -%}
  {%- do return(
      "arrayFilter(name -> name <> '', arrayMap(name -> transform(name, ["
      ~ versioned_collapsing.quote_literals(sources) ~ '], [' ~ versioned_collapsing.quote_literals(names)
      ~ "], ''), splitByChar(',', _peerdb_unchanged_toast_columns)))"
  ) -%}
{% endmacro %}
