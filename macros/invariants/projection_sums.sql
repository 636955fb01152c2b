{# The sums that an aggregating projection has stored, each as its place: `_dbt_sum_1`. Its columns are named as
   ClickHouse names the expressions of its query, which the same query of the table tells. #}
{% macro get_projection_sums_sql(table, projection, groups, sums) %}
  {%- set columns = versioned_collapsing.get_projected_columns(groups, sums, table.sign) -%}
  {%- set query = 'select ' ~ columns.all | join(', ') ~ ' from ' ~ table.relation ~ (' group by ' ~ columns.groups | join(', ') if columns.groups else '') -%}
  {%- set stored = adapter.get_column_schema_from_query(query ~ ' ' ~ versioned_collapsing.get_settings_sql()) | map(attribute='name') | list if table.is_collapsing else columns.all -%}
  select
    {%- for name in groups %}
    {{ versioned_collapsing.quote_name(stored[loop.index0]) }} as {{ versioned_collapsing.quote_name(name) }},
    {%- endfor %}
    {%- for column in columns.all[groups | length:] %}
    sumMerge({{ versioned_collapsing.quote_name(stored[groups | length + loop.index0]) }}) as _dbt_sum_{{ loop.index }}{{ ',' if not loop.last }}
    {%- endfor %}
  from mergeTreeProjection({{ versioned_collapsing.quote_literals([table.relation.schema, table.relation.identifier, projection]) }})
  {%- if groups %}
  group by {% for name in groups %}{{ versioned_collapsing.quote_name(stored[loop.index0]) }}{{ ', ' if not loop.last }}{% endfor %}
  {%- endif %}
{%- endmacro %}
