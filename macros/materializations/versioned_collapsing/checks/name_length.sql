{# The names of a table's helpers must not be longer than ClickHouse allows. #}
{% macro validate_name_length(this, server) %}
  {%- if server.taken > server.most -%}
    {%- do exceptions.raise_compiler_error(
        "alias: " ~ this.identifier ~ " is too long. With the names of its helper tables it takes " ~ server.taken
        ~ " of the " ~ server.most ~ " characters that ClickHouse has for a table in " ~ this.schema ~ ". Make it "
        ~ versioned_collapsing.format_count(server.taken - server.most, 'character') ~ " shorter."
    ) -%}
  {%- endif -%}
{% endmacro %}
