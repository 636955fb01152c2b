{# The engine that owns a node is its `database`, or what its config calls `adapter`. Both stock adapters blank the
   database here; this adapter needs it, and refuses a name that is no engine while the project is parsed. #}
{% macro spark_clickhouse__generate_database_name(custom_database_name=none, node=none) -%}
  {%- do return(adapter.named_engine(custom_database_name, node)) -%}
{%- endmacro %}
