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
