{# The columns of a query as ClickHouse describes them, each type on one line. dbt-clickhouse cannot be asked, because
   it calls every FixedString a String. #}
{% macro read_query_columns(sql) %}
  {%- set query = 'describe table ' ~ versioned_collapsing.get_subquery_sql(sql) -%}
  {%- do return(
      versioned_collapsing._read_columns(query ~ ' ' ~ versioned_collapsing.get_settings_sql(none,
      {'print_pretty_type_names': 0}))
  ) -%}
{% endmacro %}


{# The columns of a table into which rows can be inserted, without those that the table computes itself. #}
{% macro read_table_columns(relation) %}
  {%- set query -%}
    select name, type
    from system.columns
    where database = {{ versioned_collapsing.quote_literal(relation.schema) }}
      and table = {{ versioned_collapsing.quote_literal(relation.identifier) }}
      and default_kind in ('', 'DEFAULT')
    order by position
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(versioned_collapsing._read_columns(query)) -%}
{% endmacro %}


{% macro _read_columns(query) %}
  {%- set columns = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do columns.append({'name': row['name'], 'type': row['type']}) -%}
  {%- endfor -%}
  {%- do return(columns) -%}
{% endmacro %}
