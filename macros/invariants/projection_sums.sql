{# The rows of a table, for `from`, read so that no projection answers in their place: none has `_part_offset`. #}
{% macro get_rows_without_projections(table) %}
  {%- do return('(select * from ' ~ table.relation ~ ' where _part_offset >= 0) as stored' if table.is_collapsing else table.relation) -%}
{% endmacro %}


{# The sums that an aggregating projection has stored. Its columns are named as ClickHouse names the expressions of its
   query, which the same query without the projection tells. #}
{% macro get_projection_sums_sql(table, projection, groups, sums, count) %}
  {%- set names = groups.keys() | list + versioned_collapsing._named(sums).keys() | list + [count] -%}
  {%- set query = versioned_collapsing.signed_projection(projection, groups, sums, table.sign).query -%}
  {%- set stored = adapter.get_column_schema_from_query(query | replace(' group by ', ' from ' ~ table.relation ~ ' group by ')) | map(attribute='name') | list if table.is_collapsing else names -%}
  select
    {%- for name in names %}
    {{ adapter.quote(stored[loop.index0]) if name in groups else 'sumMerge(' ~ adapter.quote(stored[loop.index0]) ~ ')' }} as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
  from mergeTreeProjection('{{ table.relation.schema }}', '{{ table.relation.identifier }}', '{{ projection }}')
  group by {{ groups | join(', ') }}
{%- endmacro %}
