{# The columns of a query as ClickHouse says them, each type in one line: dbt-clickhouse calls every FixedString a
   String. #}
{% macro get_query_columns(sql) %}
  {%- set query = 'describe table ' ~ versioned_collapsing.get_subquery_sql(sql) -%}
  {%- do return(versioned_collapsing._read_columns(query ~ ' ' ~ versioned_collapsing.get_settings_sql(none, {'print_pretty_type_names': 0}))) -%}
{% endmacro %}


{# The columns of a table that can be inserted: not those that it works out itself. #}
{% macro get_table_columns(relation) %}
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


{# Lets this session send statements that name a thousand columns and more. ClickHouse reads the limits before it reads
   the statement, so that they cannot stand in it; they change no result. #}
{% macro allow_wide_statements(columns) %}
  {%- if columns.table | length > 100 -%}
    {%- do run_query(
        'set max_query_size = 268435456, max_ast_elements = 10000000, max_expanded_ast_elements = 10000000, '
        ~ 'max_parser_backtracks = 100000000'
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro _read_columns(query) %}
  {%- set columns = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do columns.append({'name': row['name'], 'type': row['type']}) -%}
  {%- endfor -%}
  {%- do return(columns) -%}
{% endmacro %}


{# Types in ClickHouse's own spelling, by the spelling that they have in the project: `BIGINT` is Int64. #}
{% macro get_canonical_types(types) %}
  {%- set canonical = {} -%}
  {%- for some in types | unique(true) | batch(500) -%}
    {%- set names = [] -%}
    {%- for type in some -%}
      {%- set default = 'defaultValueOfTypeName(' ~ versioned_collapsing.quote_literal(type) ~ ')' -%}
      {%- do names.append('toTypeName(' ~ default ~ ')') -%}
    {%- endfor -%}
    {%- set query = 'select arrayJoin([' ~ names | join(', ') ~ ']) as _dbt_type' -%}
    {%- set found = run_query(query ~ ' ' ~ versioned_collapsing.get_settings_sql(none, {'print_pretty_type_names': 0})).columns[0].values() -%}
    {%- for type in some -%}
      {%- do canonical.update({type: found[loop.index0]}) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(canonical) -%}
{% endmacro %}
