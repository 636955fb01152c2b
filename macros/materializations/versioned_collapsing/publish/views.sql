{# The materialized views that rows of the target reach, directly or through other views. `tables`: the tables that they
   fill. `definitions`: the name of each view by a hash of its definition. #}
{% macro read_views(target_relation) %}
  {%- set is_table = versioned_collapsing.get_is_table_sql(target_relation) -%}
  {%- set tables = [] -%}
  {%- set definitions = {} -%}
  {%- if versioned_collapsing.read_row_count('system.tables', is_table ~ ' and notEmpty(dependencies_table)') -%}
    {%- for row in run_query(versioned_collapsing._get_views_sql(target_relation)).rows -%}
      {%- set path = {'schema': row['target_database'], 'identifier': row['target_table']} -%}
      {%- do tables.append(target_relation.incorporate(path=path)) -%}
      {%- do definitions.update({row['definition']: row['view']}) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return({'tables': tables | unique | list, 'definitions': definitions}) -%}
{% endmacro %}


{% macro _get_views_sql(target_relation) -%}
  with recursive reached as (
    select
      '' as view,
      '' as select_query,
      {{ versioned_collapsing.quote_literal(target_relation.schema) }} as source_database,
      {{ versioned_collapsing.quote_literal(target_relation.identifier) }} as source_table

    union all

    select views.view, views.select_query, views.target_database, views.target_table
    from reached
    inner join ({{ versioned_collapsing._get_direct_views_sql() }}) as views using (source_database, source_table)
  )
  select distinct
    view,
    source_database as target_database,
    source_table as target_table,
    hex(sipHash128(view, select_query, uuid)) as definition
  from reached
  inner join system.tables on database = source_database and name = source_table
  where view <> ''
  order by view, target_database, target_table
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{# Each materialized view with the table that it reads and the one that it fills. #}
{% macro _get_direct_views_sql() -%}
  select
    source.database as source_database,
    source.name as source_table,
    view.database || '.' || view.name as view,
    view.as_select as select_query,
    view.target_database,
    view.target_table
  from (
    select database, name, arrayJoin(arrayZip(dependencies_database, dependencies_table)) as dependent
    from system.tables
    where notEmpty(dependencies_table)
  ) as source
  inner join system.tables as view on view.database = dependent.1 and view.name = dependent.2
  where view.target_table <> ''
{%- endmacro %}
