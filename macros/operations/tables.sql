{# The table of such a model. #}
{% macro get_collapsing_table(operation, node) %}
  {%- do versioned_collapsing.validate_settings(operation, versioned_collapsing.read_profile_settings()) -%}
  {%- set table = adapter.get_relation(node.database, node.schema, node.alias) -%}
  {%- if table is none -%}
    {%- do exceptions.raise_compiler_error(
        operation ~ ": the table " ~ node.schema ~ '.' ~ node.alias ~ " is not there. Build it: dbt run --select "
        ~ versioned_collapsing.get_selector(node)
    ) -%}
  {%- endif -%}
  {%- do return(table) -%}
{% endmacro %}
