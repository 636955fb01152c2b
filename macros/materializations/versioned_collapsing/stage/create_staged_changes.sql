{% macro get_create_staged_changes_sql(changes, options, columns) -%}
  create table {{ changes }} (
    {%- for column in columns.table %}
    {{ adapter.quote(column.name) }} {{ column.type }},
    {%- endfor %}
    {%- if columns.is_folded %}
    _dbt_unset Array(LowCardinality(String)),
    _dbt_is_reset Bool,
    _dbt_batch UInt64,
    _dbt_unmerged UInt64,
    {%- endif %}
    _dbt_is_deleted Bool,
    _dbt_is_tombstoned Bool,
    _dbt_is_buried Bool,
    _dbt_problem LowCardinality(String)
  )
  engine = MergeTree
  order by ({{ get_quoted_csv(options.unique_key) }})
{%- endmacro %}
