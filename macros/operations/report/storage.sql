{# The space that a table and its helper tables take on disk. #}
{% macro get_report_storage_sql(table) -%}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(table).identifier -%}
  {%- set feed = versioned_collapsing.get_changes_relation(table).identifier -%}
  {%- set staged = table.identifier ~ '__dbt_' -%}
  select
    multiIf(
      table = {{ versioned_collapsing.quote_literal(table.identifier) }}, 'stored rows',
      table = {{ versioned_collapsing.quote_literal(tombstones) }}, 'tombstones',
      table = {{ versioned_collapsing.quote_literal(feed) }}, 'change feed',
      'staged tables'
    ) as part,
    sum(rows) as stored,
    count() as parts,
    sum(bytes_on_disk) as bytes,
    sum(data_uncompressed_bytes) as uncompressed_bytes
  from system.parts
  where active
    and database = {{ versioned_collapsing.quote_literal(table.schema) }}
    and (
      table in ({{ versioned_collapsing.quote_literals([table.identifier, tombstones, feed]) }})
      or startsWith(table, {{ versioned_collapsing.quote_literal(staged) }})
    )
  group by part
  order by part
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}
