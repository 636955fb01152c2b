{# The engine that owns a node is its `database`, or `adapter` in its config. Both stock adapters blank the database
   here. This adapter needs it, and rejects a name that is not an engine while the project is parsed. #}
{% macro spark_clickhouse__generate_database_name(custom_database_name=none, node=none) -%}
  {%- do return(adapter.named_engine(custom_database_name, node)) -%}
{%- endmacro %}
