{# The names of the columns that a projection has stored: ClickHouse names them as the expressions of its query, which
   the same query of the table tells. #}
{% macro read_projected_names(table, groups, sums) %}
  {%- set columns = versioned_collapsing.get_projected_columns(groups, sums, table.sign) -%}
  {%- if not table.is_collapsing -%}{%- do return(columns.all) -%}{%- endif -%}
  {%- set query = 'select ' ~ columns.all | join(', ') ~ ' from ' ~ table.relation
      ~ (' group by ' ~ columns.groups | join(', ') if columns.groups else '')
      ~ ' ' ~ versioned_collapsing.get_settings_sql() -%}
  {%- do return(adapter.get_column_schema_from_query(query) | map(attribute='name') | list) -%}
{% endmacro %}


{# The sums that an aggregating projection has stored, each as its place: `_dbt_sum_1`. #}
{% macro get_projection_sums_sql(relation, projection, groups, stored) %}
  {%- set place = [relation.schema, relation.identifier, projection] -%}
  {%- set group_names = stored[:groups | length] -%}
  select
    {%- for name in groups %}
    {{ versioned_collapsing.quote_name(stored[loop.index0]) }} as {{ versioned_collapsing.quote_name(name) }},
    {%- endfor %}
    {%- for name in stored[groups | length:] %}
    sumMerge({{ versioned_collapsing.quote_name(name) }}) as _dbt_sum_{{ loop.index }}{{ ',' if not loop.last }}
    {%- endfor %}
  from mergeTreeProjection({{ versioned_collapsing.quote_literals(place) }})
  {%- if groups %}
  group by {{ versioned_collapsing.quote_names(group_names) }}
  {%- endif %}
{%- endmacro %}
