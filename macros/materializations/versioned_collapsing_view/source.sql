{# The table that a view follows. #}
{% macro get_source_table(source) %}
  {%- set table = adapter.get_relation(source.database, source.schema, source.alias) -%}
  {%- if table is none -%}
    {%- do exceptions.raise_compiler_error(
        "The table " ~ source.schema ~ "." ~ source.alias ~ ", which the view follows, is not there. Build it first: "
        ~ "dbt run --select " ~ versioned_collapsing.get_selector(source)
    ) -%}
  {%- endif -%}
  {%- do return(table) -%}
{% endmacro %}
