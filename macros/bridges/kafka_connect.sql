{# The change set in a table that ClickHouse's Kafka Connect sink lands. Its rows are Debezium's rows, which the sink or
   Debezium has flattened, or Debezium's envelopes. For envelopes, `columns` names the columns of the row. #}
{% macro kafka_connect_changes(
    landing, columns=[], version=none, is_deleted=none, watermark='_inserted_at', overlap='1 hour', through=none,
    toasted=[], unavailable_value='__debezium_unavailable_value', table=none, epochs=[]
) -%}
  {%- if not execute -%}{%- do return(versioned_collapsing.get_unread_landing_sql()) -%}{%- endif -%}
  {%- set found = versioned_collapsing.read_landing(landing) -%}
  {%- do versioned_collapsing.validate_inserted_at(found, watermark) -%}
  {%- do versioned_collapsing.validate_bridge_epochs(version, epochs) -%}
  {%- set is_envelope = 'op' in found.spelling and 'after' in found.spelling -%}
  {%- if is_envelope -%}
    {%- do versioned_collapsing.validate_bridge_key(versioned_collapsing.get_source_key(model)) -%}
    {%- do versioned_collapsing.validate_envelopes(found, columns) -%}
  {%- endif -%}
  {%- set fields = versioned_collapsing.get_envelope_fields() if is_envelope
      else versioned_collapsing.get_flat_fields(found) -%}
  {%- set condition = versioned_collapsing.read_range(found, watermark, overlap, through) if watermark else 'true' -%}
  {%- set is_of_table = versioned_collapsing.read_is_of_table_sql(found, fields, table, condition, watermark) -%}
  {%- set position = version or versioned_collapsing.read_position_sql(
      found, fields, watermark, condition ~ ' and ' ~ is_of_table, is_envelope, epochs
  ) -%}
  {%- set layout = {
      'version': position,
      'watermark': watermark or 'cast(null as Nullable(UInt64))',
      'condition': condition,
      'is_of_table': is_of_table,
      'control': versioned_collapsing.get_placeholder_control(toasted, unavailable_value),
  } -%}
  {%- if is_envelope -%}
    {{ versioned_collapsing.get_envelope_changes_sql(found, dict(layout, payload=columns)) }}
  {%- else -%}
    {%- set mark = is_deleted or versioned_collapsing.get_flat_delete_sql(found) -%}
    {%- do versioned_collapsing.validate_landed_column(
        found, mark, 'the deletes', ['is_deleted', '__deleted', '__op'], 'is_deleted'
    ) -%}
    {%- do versioned_collapsing.validate_landed_names(found, {'toasted': toasted}) -%}
    {{ versioned_collapsing.get_landed_changes_sql(found, dict(
        layout,
        payload=versioned_collapsing.get_landed_payload(
            found, versioned_collapsing.get_flat_own_columns(found, watermark)
        ),
        is_deleted=mark,
        settles_ties=true,
        condition=condition ~ ' and ' ~ is_of_table,
    )) }}
  {%- endif -%}
{%- endmacro %}

{# No column of the sink says when a row landed. #}
{% macro validate_inserted_at(found, watermark) %}
  {%- if watermark == '_inserted_at' and '_inserted_at' not in found.spelling -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        found.relation ~ " has no column _inserted_at, which says when a row landed. Add it: alter table "
        ~ found.relation ~ " add column _inserted_at DateTime64(6, 'UTC') default now64(6, 'UTC'). Or pass watermark, "
        ~ "a column or expression that grows as rows land, or watermark=none to read the whole table in each run."
    ], 'a change set') -%}
  {%- endif -%}
{% endmacro %}

{% macro validate_envelopes(found, columns) %}
  {%- set problems = [] -%}
  {%- if not columns -%}
    {%- do problems.append(
        found.relation ~ " has envelopes (op, before, after), so columns is needed: the names of the row's columns, "
        ~ "such as columns=['order_id', 'amount']."
    ) -%}
  {%- endif -%}
  {%- for name in ('before', 'after', 'source') -%}
    {%- set type = (found.columns | selectattr('name', 'equalto', name) | first | default({'type': 'missing'})).type -%}
    {%- if versioned_collapsing.get_base_type(type) != 'String' and not type.startswith('JSON') -%}
      {%- do problems.append(
          found.relation ~ ": the column " ~ name ~ " is " ~ type ~ "; it is to be a String or JSON that has the "
          ~ "envelope's " ~ name ~ " as JSON."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'a change set') -%}
{% endmacro %}

{# The fields of an event that say where it comes from and when it was committed, as texts. #}
{% macro get_envelope_fields() %}
  {%- set fields = {'op': "ifNull(op, '')"} -%}
  {%- set names = ['connector', 'db', 'schema', 'table', 'collection', 'lsn', 'commit_lsn', 'sequence', 'file', 'pos',
      'row', 'ts_ms', 'ord'] -%}
  {%- for name in names -%}
    {%- do fields.update({name: "JSONExtract(ifNull(toString(source), ''), '" ~ name ~ "', 'Nullable(String)')"}) -%}
  {%- endfor -%}
  {%- do fields.update({'table': 'ifNull(' ~ fields.table ~ ', ' ~ fields.collection ~ ')'}) -%}
  {%- do return(fields) -%}
{% endmacro %}

{# Debezium's ExtractNewRecordState puts `__`, or `__source_`, before the names of the fields that it adds. #}
{% macro get_flat_fields(found) %}
  {%- set fields = {} -%}
  {%- for name in ('op', 'connector', 'db', 'schema', 'table', 'lsn', 'commit_lsn', 'sequence', 'file', 'pos', 'row',
      'ts_ms', 'ord') -%}
    {%- set column = versioned_collapsing.get_landed_column(found, ['__source_' ~ name, '__' ~ name]) -%}
    {%- do fields.update({
        name: 'cast(' ~ ('null' if column is none else 'toString(' ~ column ~ ')') ~ ' as Nullable(String))'
    }) -%}
  {%- endfor -%}
  {%- do fields.update({'op': 'ifNull(' ~ fields.op ~ ", '')"}) -%}
  {%- do return(fields) -%}
{% endmacro %}

{# The position of an event as its version. The initial snapshots are needed if this run reads the first transaction
   after one. #}
{% macro read_position_sql(found, fields, watermark, condition, is_envelope, epochs) %}
  {%- if not is_envelope -%}
    {%- do versioned_collapsing.validate_flat_position(found, epochs) -%}
  {%- endif -%}
  {%- set rows = '(select ' ~ found.all_columns ~ ' from ' ~ found.relation ~ ')' -%}
  {%- set has_first = versioned_collapsing.read_row_count(
      rows, condition ~ ' and ' ~ versioned_collapsing.get_is_first_transaction_sql(fields)
  ) > 0 -%}
  {%- set landed_at = watermark or '0' -%}
  {%- set snapshots -%}
    (
      select arraySort(groupArray((_dbt_landed_at, _dbt_lsn)))
      from (
        select min({{ landed_at }}) as _dbt_landed_at, assumeNotNull(toInt128OrNull({{ fields.lsn }})) as _dbt_lsn
        from {{ rows }}
        where {{ fields.op }} = 'r' and isNotNull({{ fields.lsn }})
          and isNull({{ versioned_collapsing.get_lsn_of_last_commit_sql(fields) }})
        group by _dbt_lsn
      )
    )
  {%- endset -%}
  {%- do return(versioned_collapsing.get_known_position_sql(
      versioned_collapsing.get_position_sql(fields, {'sql': snapshots, 'watermark': landed_at} if has_first else none)
      ~ versioned_collapsing.get_epoch_position_sql(fields, epochs)
  )) -%}
{% endmacro %}

{% macro validate_bridge_epochs(version, epochs) %}
  {%- set problems = [] -%}
  {%- if not versioned_collapsing.are_epochs(epochs) or epochs | select('integer') | list -%}
    {%- do problems.append(
        "epochs is " ~ epochs ~ "; it takes at most 255 times of the source in UTC in growing order, such as "
        ~ "'2026-01-05 10:00:00'."
    ) -%}
  {%- elif epochs and version -%}
    {%- do problems.append("epochs is " ~ epochs ~ ", but version is set. Only positions have epochs: remove one.") -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'a change set') -%}
{% endmacro %}

{# A row needs more than one number to say where it stands in the order of commits. #}
{% macro validate_flat_position(found, epochs) %}
  {%- set missing = [] -%}
  {%- set needed = ('op', 'file', 'pos', 'row') if versioned_collapsing.get_landed_column(
      found, ['__source_file', '__file']
  ) else ('op', 'lsn', 'sequence') -%}
  {%- for name in needed + (('ts_ms',) if epochs else ())
      if versioned_collapsing.get_landed_column(found, ['__source_' ~ name, '__' ~ name]) is none -%}
    {%- do missing.append('__' ~ name) -%}
  {%- endfor -%}
  {%- if missing -%}
    {%- do versioned_collapsing.raise_problems(model.unique_id, [
        found.relation ~ " does not say in which order its source committed: it has no column " ~ missing | join(', ')
        ~ ". Land them, by add.fields: op,table,source.lsn,source.sequence for PostgreSQL, or "
        ~ "op,table,source.file,source.pos,source.row for MySQL. Or pass version, such as version='_version' or "
        ~ "version='__lsn'. Both are where a row stands in the log: where two transactions change a key at once, the "
        ~ "one that commits first may win."
    ], 'a change set') -%}
  {%- endif -%}
{% endmacro %}

{# The change set in Debezium's envelopes, whose `before`, `after` and `source` are JSON. Values stay as text, which the
   table takes only if its types hold them. A row without an operation is a tombstone of Kafka, and says nothing. An
   update that changes the key deletes the row of the old one. #}
{% macro get_envelope_changes_sql(found, layout) -%}
  {%- set key = versioned_collapsing.get_source_key(model) -%}
  select
    {%- for name in layout.payload %}
    {{ versioned_collapsing.quote_name(name) }},
    {%- endfor %}
    _dbt_version as _version,
    _dbt_is_old or _dbt_op = 'd' as _is_deleted,
    _dbt_op = 't' as _is_truncate,
    toUInt8(_dbt_is_old) as _synthetic,
    {%- for name, sql in layout.control.items() %}
    if(_dbt_is_old or _dbt_op in ('d', 't'), [], {{ sql }}) as {{ name }},
    {%- endfor %}
    {{ versioned_collapsing.get_watermark_columns_sql(found, '_dbt_watermark') }}
  from (
    select
      _dbt_version,
      _dbt_op,
      _dbt_watermark,
      _dbt_is_old,
      multiIf(_dbt_is_old or _dbt_op = 'd', _dbt_before, _dbt_op = 't', '', _dbt_after) as _dbt_image,
      {%- for name in layout.payload %}
      {{ versioned_collapsing._get_envelope_value_sql('_dbt_image', name) }}
        as {{ versioned_collapsing.quote_name(name) }}{{ ',' if not loop.last }}
      {%- endfor %}
    from (
      select
        {{ layout.version }} as _dbt_version,
        ifNull(op, '') as _dbt_op,
        {{ layout.watermark }} as _dbt_watermark,
        ifNull(toString(before), '') as _dbt_before,
        ifNull(toString(after), '') as _dbt_after
      from (select {{ found.all_columns }} from {{ found.relation }})
      where {{ layout.condition }}
        and {{ layout.is_of_table }}
        and ifNull(op, '') not in ('', 'm')
        and not throwIf(
          ifNull(op, '') not in ('', 'm', 'c', 'r', 'u', 'd', 't'),
          'An envelope has an unknown op; known are c, r, u, d, t and m. Correct the row'
        )
    )
    array join if(
      _dbt_op = 'u' and ({{ versioned_collapsing._get_envelope_key_differs_sql(key) }}), [false, true], [false]
    ) as _dbt_is_old
  )
{%- endmacro %}

{# The value of a row as text. ClickHouse's functions for JSON make a float of a number with a point or an exponent. So
   its digits are taken from the text: what stands after its name and is the same float. #}
{% macro _get_envelope_value_sql(image, name) -%}
  {%- set field = image ~ ', ' ~ versioned_collapsing.quote_literal(name) -%}
  {%- set key = '"' ~ name | replace('\\', '\\\\') | replace('"', '\\"') ~ '"' -%}
  {%- set pattern = modules.re.escape(key) ~ '\\s*:\\s*(-?[0-9][0-9.eE+-]*)' -%}
  {%- set digits = 'arrayDistinct(arrayFilter(_dbt_text -> toFloat64OrZero(_dbt_text) = JSONExtractFloat(' ~ field
      ~ '), extractAll(' ~ image ~ ', ' ~ versioned_collapsing.quote_literal(pattern) ~ ')))' -%}
  multiIf(
    JSONType({{ field }}) = 'Null', null,
    JSONType({{ field }}) = 'String', JSONExtractString({{ field }}),
    JSONType({{ field }}) <> 'Double', JSONExtractRaw({{ field }}),
    throwIf(
      empty({{ digits }})
        or (length({{ digits }}) > 1 and arrayMax(_dbt_text -> length(_dbt_text), {{ digits }}) > 15),
      {{ versioned_collapsing.quote_literal(
          'The digits of a number in an envelope cannot be told. Land such numbers as texts: '
          ~ 'decimal.handling.mode=string'
      ) }}
    ), null,
    {{ digits }}[1]
  )
{%- endmacro %}

{% macro _get_envelope_key_differs_sql(key) %}
  {%- set differs = [] -%}
  {%- for name in key -%}
    {%- do differs.append(
        'ifNull(' ~ versioned_collapsing._get_envelope_value_sql('_dbt_before', name) ~ ' <> '
        ~ versioned_collapsing._get_envelope_value_sql('_dbt_after', name) ~ ', false)'
    ) -%}
  {%- endfor -%}
  {%- do return(differs | join(' or ') or 'false') -%}
{% endmacro %}

{# What says of a flattened row that it is a delete: the sink's own column, or those of Debezium's
   ExtractNewRecordState, where `delete.tombstone.handling.mode` is `rewrite`. #}
{% macro get_flat_delete_sql(found) %}
  {%- set mark = versioned_collapsing.get_landed_column(found, ['is_deleted', '__deleted', '__op']) -%}
  {%- do return(
      none if mark is none
      else 'toBool(' ~ mark ~ ')' if 'is_deleted' in found.spelling
      else 'toString(' ~ mark ~ ") in ('true', '1', 'd')"
  ) -%}
{% endmacro %}

{# What the sink or Debezium adds to the source's columns. #}
{% macro get_flat_own_columns(found, watermark) %}
  {%- set own = ['_version', 'is_deleted', (watermark or '') | lower] -%}
  {%- for name in found.spelling if name.startswith('__') -%}
    {%- do own.append(name) -%}
  {%- endfor -%}
  {%- do return(own) -%}
{% endmacro %}
