{# The change set in a table that PeerDB lands, or a ClickPipe for PostgreSQL or MySQL. With `raw`, the raw table of the
   mirror, the run reads changes there. The raw table has the deletes, old keys and unchanged columns that the landed
   table may lack. #}
{% macro peerdb_changes(landing, raw=none, overlap='1 hour', through=none, binary=[]) -%}
  {%- if not execute -%}
    {%- do return(versioned_collapsing.get_unread_landing_sql()) -%}
  {%- endif -%}
  {%- set found = versioned_collapsing.read_landing(landing) -%}
  {%- set layout = versioned_collapsing.get_peerdb_layout(found) -%}
  {%- do versioned_collapsing.validate_peerdb_landing(found, layout, raw) -%}
  {%- if raw is none -%}
    {{ versioned_collapsing.get_landed_changes_sql(found, dict(
        layout, condition=versioned_collapsing.read_range(found, layout.watermark, overlap, through)
    )) }}
  {%- else -%}
    {%- do versioned_collapsing.validate_bridge_key(versioned_collapsing.get_unique_key(model.config)) -%}
    {{ versioned_collapsing.get_peerdb_raw_changes_sql(
        found, layout, versioned_collapsing.read_peerdb_raw(found, raw, overlap, through), binary
    ) }}
  {%- endif -%}
{%- endmacro %}


{# A ClickPipe for PostgreSQL, MySQL or another database is PeerDB's. #}
{% macro clickpipes_changes(landing, raw=none, overlap='1 hour', through=none, binary=[]) -%}
  {{ versioned_collapsing.peerdb_changes(landing, raw, overlap, through, binary) }}
{%- endmacro %}


{% macro get_peerdb_layout(found) %}
  {%- set own = ['_peerdb_synced_at', '_peerdb_is_deleted', '_peerdb_version'] -%}
  {%- do return({
      'payload': versioned_collapsing.get_landed_payload(found, own),
      'version': versioned_collapsing.get_landed_column(found, ['_peerdb_version']),
      'is_deleted': versioned_collapsing.get_landed_column(found, ['_peerdb_is_deleted']),
      'watermark': versioned_collapsing.get_landed_column(found, ['_peerdb_synced_at']),
      'control': {},
  }) -%}
{% endmacro %}


{% macro validate_peerdb_landing(found, layout, raw) %}
  {%- set needed = {'version': 'the version', 'is_deleted': 'the deletes'} -%}
  {%- for part, what in needed.items() -%}
    {%- do versioned_collapsing.validate_landed_column(found, layout[part], what, ['_peerdb_' ~ part], none) -%}
  {%- endfor -%}
  {%- if raw is none -%}
    {%- do versioned_collapsing.validate_landed_column(
        found, layout.watermark, 'the time at which a row landed', ['_peerdb_synced_at'], 'raw'
    ) -%}
  {%- endif -%}
{% endmacro %}
