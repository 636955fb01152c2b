{# The change set in the changelog of an Iceberg table. A batch is a snapshot of the table's main branch. Its number is
   the time of its commit, in microseconds since 1970. `catalog` is Spark's name of the catalog that has the table.
   Everything else is as in delta_changes. #}
{% macro iceberg_changes(table, key, version=none, catalog='spark_catalog') -%}
  {%- do config(meta={'lake': {'format': 'iceberg', 'catalog': catalog}}) -%}
  {{ versioned_collapsing.read_lake_changes_sql(table, key, version, 'iceberg_changes') }}
{%- endmacro %}
