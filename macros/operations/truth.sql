{# What to read the truth from: a model on Spark through the hand-off, a model on ClickHouse by its name, and anything
   else as it is given. #}
{% macro get_truth_relation(operation, truth) %}
  {%- set nodes = graph.nodes.values() | selectattr('resource_type', 'in', ('model', 'seed', 'snapshot')) | list -%}
  {%- set found = versioned_collapsing.get_nodes_named(truth, nodes) -%}
  {%- do versioned_collapsing.validate_one_node(operation, truth, found) -%}
  {%- if not found -%}
    {%- do return(truth) -%}
  {%- endif -%}
  {%- set node = found[0] -%}
  {%- if adapter.hand_off is defined and node.database == 'spark' -%}
    {%- do return(adapter.hand_off(node.schema, node.alias) | string) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing.quote_name(node.schema) ~ '.' ~ versioned_collapsing.quote_name(node.alias)) -%}
{% endmacro %}
