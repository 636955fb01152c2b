{# The raw table of a mirror: the rows of one landed table in it. It keeps them for some time only, so that what is
   older is to be read in the landed table: always if nothing has been read yet, and if the raw table has lost rows
   above the watermark. #}
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


{# An update of the key has the old one in `_peerdb_match_data`, whose row is deleted just before, as PeerDB does if it
   is told to. The landed table has what came before the raw table begins. #}
{% macro get_peerdb_raw_changes_sql(found, layout, raw, binary) -%}
  {%- set key = versioned_collapsing.get_unique_key(model.config) -%}
  {%- set stop = 'if(count() = 0, toUInt64(-1), toUInt64(min(_peerdb_timestamp)))' -%}
  {%- if not raw.is_whole -%}
  {{ versioned_collapsing.get_landed_changes_sql(raw, dict(
      layout,
      rows=found.relation,
      condition=layout.version ~ ' < (select ' ~ stop ~ ' from ' ~ raw.relation ~ ' where ' ~ raw.is_of_table ~ ')',
      version='toUInt64(' ~ layout.version ~ ')',
      is_deleted='toBool(' ~ layout.is_deleted ~ ')',
      watermark="cast(null as Nullable(DateTime64(9, 'UTC')))",
      control={'_unset': "cast([] as Array(String))", '_derived': 'toUInt8(0)'}
  )) }}
  union all
  {%- endif %}
  select
    {%- for column in found.columns if column.name in layout.payload %}
    {{ versioned_collapsing._get_peerdb_value_sql(column, column.name in binary) }}
      as {{ versioned_collapsing.quote_name(column.name) }},
    {%- endfor %}
    toUInt64(_peerdb_timestamp - _dbt_is_old) as _version,
    _dbt_is_old or _peerdb_record_type = 2 as _is_deleted,
    if(
      _peerdb_record_type = 1 and not _dbt_is_old,
      arrayFilter(name -> name <> '', splitByChar(',', _peerdb_unchanged_toast_columns)),
      []
    ) as _unset,
    toUInt8(_dbt_is_old) as _derived,
    {{ versioned_collapsing.get_watermark_columns_sql(raw, 'cast(' ~ raw.watermark
        ~ " as Nullable(DateTime64(9, 'UTC')))") }}
  from (
    select *, _dbt_is_old, if(_dbt_is_old, _peerdb_match_data, _peerdb_data) as _dbt_data
    from {{ raw.relation }}
    array join if(
      _peerdb_record_type = 1 and ({{ versioned_collapsing._get_peerdb_key_differs_sql(key) }}), [false, true], [false]
    ) as _dbt_is_old
    where {{ raw.condition }}
  )
{%- endmacro %}


{% macro _get_peerdb_key_differs_sql(key) %}
  {%- set differs = [] -%}
  {%- for name in key -%}
    {%- set field = versioned_collapsing.quote_literal(name) -%}
    {%- do differs.append(
        'JSONHas(_peerdb_match_data, ' ~ field ~ ') and JSONExtractRaw(_peerdb_match_data, ' ~ field
        ~ ') <> JSONExtractRaw(_peerdb_data, ' ~ field ~ ')'
    ) -%}
  {%- endfor -%}
  {%- do return(differs | join(' or ') or 'false') -%}
{% endmacro %}


{# A value as PeerDB itself takes it from the JSON text. #}
{% macro _get_peerdb_value_sql(column, is_binary) %}
  {%- set field = '_dbt_data, ' ~ versioned_collapsing.quote_literal(column.name) -%}
  {%- set type = versioned_collapsing.quote_literal(column.type) -%}
  {%- set base = versioned_collapsing.get_base_type(column.type) -%}
  {%- if is_binary -%}
    {%- do return('cast(base64Decode(JSONExtractString(' ~ field ~ ')) as ' ~ column.type ~ ')') -%}
  {%- elif base.startswith('Date') -%}
    {%- set time = "parseDateTime64BestEffortOrNull(JSONExtractString(" ~ field ~ "), 6, 'UTC')" -%}
    {%- do return(
        'cast(' ~ (time if versioned_collapsing.is_nullable_type(column.type)
        else 'ifNull(' ~ time ~ ", toDateTime64(0, 6, 'UTC'))") ~ ', ' ~ type ~ ')'
    ) -%}
  {%- endif -%}
  {%- do return('JSONExtract(' ~ field ~ ', ' ~ type ~ ')') -%}
{% endmacro %}
