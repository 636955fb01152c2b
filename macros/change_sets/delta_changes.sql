{# The change set in the change data feed of a Delta table. A batch is a commit of the table. Its number is the version
   of the commit.

   Without `version`, `_version` is the number of the commit, and the table looks up what a change replaces. With
   `version`, a column of the row that grows with every change, the change set has signed rows for `old_state:
   stream`. #}
{% macro delta_changes(table, key, version=none) -%}
  {%- do config(meta={'lake': {'format': 'delta'}}) -%}
  {{ versioned_collapsing.read_lake_changes_sql(table, key, version, 'delta_changes') }}
{%- endmacro %}
