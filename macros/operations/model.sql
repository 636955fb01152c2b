{# The node of the versioned_collapsing model that an operation is for. The model is given by its name. If several
   packages, or several versions of a model, have that name, it is given by its unique_id. #}
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


{# The node with this unique_id or, if there is none, the nodes with this name. #}
{% macro get_nodes_named(name, nodes) %}
  {%- set by_id = nodes | selectattr('unique_id', 'equalto', name) | list -%}
  {%- do return(by_id or nodes | selectattr('name', 'equalto', name) | list) -%}
{% endmacro %}


{# The table of such a model. Raises an error if it does not exist, or if the profile has settings that leave rows
   out. #}
{% macro read_collapsing_table(operation, node) %}
  {%- do versioned_collapsing.validate_settings(operation, versioned_collapsing.read_profile_settings()) -%}
  {%- set table = adapter.get_relation(node.database, node.schema, node.alias) -%}
  {%- do versioned_collapsing.validate_table_is_there(operation, node, table) -%}
  {%- do versioned_collapsing.validate_no_virtual_columns(
      table, versioned_collapsing.read_table_columns(table) | map(attribute='name') | list
  ) -%}
  {%- do return(table) -%}
{% endmacro %}


{% macro get_valid_options(node) %}
  {%- set options = versioned_collapsing.get_versioned_collapsing_options(node.config, node) -%}
  {%- do versioned_collapsing.validate_versioned_collapsing_options(node, options) -%}
  {%- do return(options) -%}
{% endmacro %}
