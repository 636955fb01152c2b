{# Lets this session send statements about a thousand columns or batches, and more. ClickHouse applies these limits
   before it parses a statement, so the statement itself cannot set them. They change no result. #}
{% macro allow_wide_statements(batches, columns=[]) %}
  {%- if columns | length > 100 or batches | length > 1000 -%}
    {%- do run_query(
        'set max_query_size = 268435456, max_ast_elements = 10000000, max_expanded_ast_elements = 10000000, '
        ~ 'max_parser_backtracks = 100000000'
    ) -%}
  {%- endif -%}
{% endmacro %}
