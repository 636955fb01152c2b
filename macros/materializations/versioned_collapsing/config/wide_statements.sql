{# Lets this session send statements with a thousand columns or more. ClickHouse applies these limits before it parses a
   statement, so the statement itself cannot set them. They change no result. #}
{% macro allow_wide_statements(columns) %}
  {%- if columns.table | length > 100 -%}
    {%- do run_query(
        'set max_query_size = 268435456, max_ast_elements = 10000000, max_expanded_ast_elements = 10000000, '
        ~ 'max_parser_backtracks = 100000000'
    ) -%}
  {%- endif -%}
{% endmacro %}
