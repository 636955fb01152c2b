{# The materialized views that rows of the target reach, at once or by way of other views: the tables that they
   fill, and names by a hash of what each view is. #}
{% macro read_views(target) %}
  {%- set tables = [] -%}
  {%- set definitions = {} -%}
  {%- if not versioned_collapsing.has_views(target) -%}
    {%- do return({'tables': tables, 'definitions': definitions}) -%}
  {%- endif -%}
  {%- set query -%}
    with recursive reached as (
      select '' as view, '' as select_query, {{ versioned_collapsing.quote_literal(target.schema) }} as source_database,
          {{ versioned_collapsing.quote_literal(target.identifier) }} as source_table
      union all
      select views.view, views.select_query, views.target_database, views.target_table
      from reached
      inner join (
        select
          source.database as source_database, source.name as source_table,
          view.database || '.' || view.name as view, view.as_select as select_query, view.target_database,
              view.target_table
        from (
          select database, name, arrayJoin(arrayZip(dependencies_database, dependencies_table)) as dependent
          from system.tables
          where notEmpty(dependencies_table)
        ) as source
        inner join system.tables as view on view.database = dependent.1 and view.name = dependent.2
        where view.target_table <> ''
      ) as views using (source_database, source_table)
    )
    select distinct view, source_database as target_database, source_table as target_table,
        hex(sipHash128(view, select_query, uuid)) as definition
    from reached
    inner join system.tables on database = source_database and name = source_table
    where view <> ''
    order by view, target_database, target_table
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- for row in run_query(query).rows -%}
    {%- set table = target.incorporate(path={'schema': row['target_database'], 'identifier': row['target_table']}) -%}
    {%- if table not in tables -%}{%- do tables.append(table) -%}{%- endif -%}
    {%- do definitions.update({row['definition']: row['view']}) -%}
  {%- endfor -%}
  {%- do return({'tables': tables, 'definitions': definitions}) -%}
{% endmacro %}


{% macro has_views(target) %}
  {%- set query -%}
    select count() as n
    from system.tables
    where {{ versioned_collapsing.get_is_table_sql(target) }} and notEmpty(dependencies_table)
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(run_query(query).rows[0]['n'] | int > 0) -%}
{% endmacro %}
