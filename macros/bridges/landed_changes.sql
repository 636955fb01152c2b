{# The change set in any landing table. Its rows have a version, can be deletes, and can have a watermark, which grows
   as rows land. Without a watermark, each run reads the whole table. #}
{% macro landed_changes(
    landing, version, is_deleted='false', watermark=none, overlap='1 hour', through=none, own=[], toasted=[],
    unavailable_value='__debezium_unavailable_value'
) -%}
  {%- if not execute -%}
    {%- do return(versioned_collapsing.get_unread_landing_sql()) -%}
  {%- endif -%}
  {%- set found = versioned_collapsing.read_landing(landing) -%}
  {%- set own = own | map('lower') | list -%}
  {%- do versioned_collapsing.validate_landed_names(found, {'toasted': toasted}) -%}
  {{ versioned_collapsing.get_landed_changes_sql(found, {
      'payload': versioned_collapsing.get_landed_payload(found, own),
      'version': version,
      'is_deleted': is_deleted,
      'settles_ties': true,
      'watermark': watermark or 'cast(null as Nullable(UInt64))',
      'condition': versioned_collapsing.read_range(found, watermark, overlap, through) if watermark else 'true',
      'control': versioned_collapsing.get_placeholder_control(toasted, unavailable_value),
  }) }}
{%- endmacro %}
