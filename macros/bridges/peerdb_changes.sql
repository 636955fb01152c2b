{# The change set in a table that PeerDB lands, or a ClickPipe for PostgreSQL or MySQL. With `raw`, the raw table of the
   mirror, the run reads changes there. The raw table has the deletes, old keys and unchanged columns that the landed
   table may lack. `names` of the arguments are those of PeerDB's own columns, of which a mirror can rename two. #}
{% macro peerdb_changes(
    landing, raw=none, overlap='1 hour', through=none, binary=[], renamed={}, own=[],
    is_deleted='_peerdb_is_deleted', version='_peerdb_version', watermark='_peerdb_synced_at'
) -%}
  {%- if not execute -%}
    {%- do return(versioned_collapsing.get_unread_landing_sql()) -%}
  {%- endif -%}
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
    {%- set key = versioned_collapsing.get_unique_key(model.config) -%}
    {%- do versioned_collapsing.validate_bridge_key(key) -%}
    {%- set fields = versioned_collapsing.get_peerdb_fields(found, layout, renamed, binary) -%}
    {%- set raw_found = versioned_collapsing.read_peerdb_raw(found, raw, overlap, through) -%}
    {%- if versioned_collapsing.is_building() -%}
      {%- do versioned_collapsing.validate_peerdb_fields(found, raw_found, fields, renamed) -%}
      {%- do versioned_collapsing.validate_peerdb_values(found, layout, raw_found, fields, key) -%}
    {%- endif -%}
    {{ versioned_collapsing.get_peerdb_raw_changes_sql(found, layout, raw_found, fields, key) }}
  {%- endif -%}
{%- endmacro %}


{# A ClickPipe for PostgreSQL, MySQL or another database is PeerDB's. #}
{% macro clickpipes_changes(
    landing, raw=none, overlap='1 hour', through=none, binary=[], renamed={}, own=[],
    is_deleted='_peerdb_is_deleted', version='_peerdb_version', watermark='_peerdb_synced_at'
) -%}
  {{ versioned_collapsing.peerdb_changes(
      landing, raw, overlap, through, binary, renamed, own, is_deleted, version, watermark
  ) }}
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
  {%- do versioned_collapsing.validate_landed_column(
      found, layout.version, 'the version', [names.version], 'version'
  ) -%}
  {%- do versioned_collapsing.validate_landed_column(
      found, layout.is_deleted, 'the deletes', [names.is_deleted], 'is_deleted'
  ) -%}
  {%- if raw is none -%}
    {%- do versioned_collapsing.validate_landed_column(
        found, layout.watermark, 'the time at which a row landed', [names.watermark], 'watermark or raw'
    ) -%}
  {%- endif -%}
{% endmacro %}
