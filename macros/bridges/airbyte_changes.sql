{# The change set in a table that Airbyte's ClickHouse destination lands, deduplicated or appended. #}
{% macro airbyte_changes(
    landing, version=none, watermark='_airbyte_extracted_at', overlap='1 day', through=none, toasted=[],
    unavailable_value='__debezium_unavailable_value'
) -%}
  {%- if not execute -%}
    {%- do return(versioned_collapsing.get_unread_landing_sql()) -%}
  {%- endif -%}
  {%- set found = versioned_collapsing.read_landing(landing) -%}
  {%- set names = ['_ab_cdc_lsn', '_ab_cdc_cursor'] -%}
  {%- set position = versioned_collapsing.get_landed_column(found, names) -%}
  {%- set deleted_at = versioned_collapsing.get_landed_column(found, ['_ab_cdc_deleted_at']) -%}
  {%- do versioned_collapsing.validate_landed_column(
      found, version or position, 'the position of a change', names, 'version'
  ) -%}
  {%- set own = [] -%}
  {%- for name in found.spelling if name.startswith(('_airbyte_', '_ab_cdc_')) -%}
    {%- do own.append(name) -%}
  {%- endfor -%}
  {{ versioned_collapsing.landed_changes(
      landing,
      version or 'toUInt64(ifNull(' ~ position ~ ', 0))',
      'isNotNull(' ~ deleted_at ~ ')' if deleted_at else 'false',
      watermark, overlap, through, own, toasted, unavailable_value
  ) }}
{%- endmacro %}
