{# The node of a versioned_collapsing model that an operation is for, by its name, or by its unique_id where two
   packages, or two versions of a model, have one of that name. #}
{% macro get_collapsing_node(operation, model) %}
  {%- set nodes = versioned_collapsing.get_collapsing_nodes() -%}
  {%- set found = versioned_collapsing.get_nodes_named(model, nodes) -%}
  {%- do versioned_collapsing.validate_one_node(operation, model, found) -%}
  {%- do versioned_collapsing.validate_collapsing_node(operation, model, found, nodes) -%}
  {%- do return(found[0]) -%}
{% endmacro %}


{% macro get_collapsing_nodes() %}
  {%- do return(
      graph.nodes.values() | selectattr('config.materialized', 'equalto',
      'versioned_collapsing') | sort(attribute='name')
      | list
  ) -%}
{% endmacro %}


{# Those among nodes that have a unique_id, or else a name. #}
{% macro get_nodes_named(name, nodes) %}
  {%- set by_id = nodes | selectattr('unique_id', 'equalto', name) | list -%}
  {%- do return(by_id or nodes | selectattr('name', 'equalto', name) | list) -%}
{% endmacro %}


{# The table and the options of such a model; what is wrong with either is an error. #}
{% macro read_collapsing_table(operation, node) %}
  {%- do versioned_collapsing.validate_settings(operation, versioned_collapsing.read_profile_settings()) -%}
  {%- set table = adapter.get_relation(node.database, node.schema, node.alias) -%}
  {%- do versioned_collapsing.validate_table_is_there(operation, node, table) -%}
  {%- do return(table) -%}
{% endmacro %}


{% macro get_valid_options(node) %}
  {%- set options = versioned_collapsing.get_versioned_collapsing_options(node.config, node) -%}
  {%- do versioned_collapsing.validate_versioned_collapsing_options(node, options) -%}
  {%- do return(options) -%}
{% endmacro %}
