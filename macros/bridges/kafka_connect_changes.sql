{# The change set in a table that ClickHouse's Kafka Connect sink lands. Its rows are Debezium's rows, which the sink or
   Debezium has flattened, or Debezium's envelopes. For envelopes, `columns` names the columns of the row. #}
{% macro kafka_connect_changes(
    landing, columns=[], version=none, is_deleted=none, watermark='_inserted_at', overlap='1 hour', through=none,
    toasted=[], unavailable_value='__debezium_unavailable_value'
) -%}
  {%- if not execute -%}
    {%- do return(versioned_collapsing.get_unread_landing_sql()) -%}
  {%- endif -%}
  {%- set found = versioned_collapsing.read_landing(landing) -%}
  {%- do versioned_collapsing.validate_inserted_at(found, watermark) -%}
  {%- if 'op' in found.spelling and 'after' in found.spelling -%}
    {%- do versioned_collapsing.validate_bridge_key(versioned_collapsing.get_unique_key(model.config)) -%}
    {%- do versioned_collapsing.validate_envelopes(found, columns) -%}
    {{ versioned_collapsing.get_envelope_changes_sql(found, {
        'payload': columns,
        'version': version or versioned_collapsing.get_envelope_version_sql(),
        'watermark': watermark or 'cast(null as Nullable(UInt64))',
        'condition': versioned_collapsing.read_range(found, watermark, overlap, through) if watermark else 'true',
        'control': versioned_collapsing.get_placeholder_control(toasted, unavailable_value),
    }) }}
  {%- else -%}
    {%- set positions = ['_version', '__lsn', '__source_lsn'] -%}
    {%- set position = versioned_collapsing.get_landed_column(found, positions) -%}
    {%- set mark = versioned_collapsing.get_flat_delete_sql(found) -%}
    {%- do versioned_collapsing.validate_landed_column(
        found, version or position, 'the position of a change', positions, 'version'
    ) -%}
    {%- do versioned_collapsing.validate_landed_column(
        found, is_deleted or mark, 'the deletes', ['is_deleted', '__deleted', '__op'], 'is_deleted'
    ) -%}
    {{ versioned_collapsing.landed_changes(
        landing, version or position, is_deleted or mark, watermark, overlap, through,
        versioned_collapsing.get_flat_own_columns(found, watermark), toasted, unavailable_value
    ) }}
  {%- endif -%}
{%- endmacro %}


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
