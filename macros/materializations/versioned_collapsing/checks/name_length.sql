{# The names of a table's helpers must not be longer than ClickHouse allows. #}
{% macro validate_name_length(this, server) %}
  {%- if server.taken > server.most -%}
    {%- do exceptions.raise_compiler_error(
        "alias: " ~ this.identifier ~ " is too long. Its longest helper table has a name of " ~ server.taken
        ~ " characters, and ClickHouse allows " ~ server.most ~ " for a table in " ~ this.schema ~ ". Make the alias "
        ~ versioned_collapsing.format_count(server.taken - server.most, 'character') ~ " shorter."
    ) -%}
  {%- endif -%}
{% endmacro %}
