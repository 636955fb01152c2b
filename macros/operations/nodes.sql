{# The node of a versioned_collapsing model that an operation is for, by its name, or by its unique_id where two
   packages, or two versions of a model, have one of that name. #}
{% macro get_collapsing_node(operation, model) %}
  {%- set collapsing = graph.nodes.values() | selectattr('config.materialized', 'equalto',
      'versioned_collapsing') | list -%}
  {%- set node = versioned_collapsing.get_node_named(operation, model, collapsing) -%}
  {%- if node is none -%}
    {%- set known = collapsing | map(attribute='name') | unique | sort | join(', ') -%}
    {%- do exceptions.raise_compiler_error(
        operation ~ ": there is no versioned_collapsing model '" ~ model ~ "' in the project. There are: "
        ~ (known or 'none') ~ "."
    ) -%}
  {%- endif -%}
  {%- do return(node) -%}
{% endmacro %}


{# The one among nodes that has a name or a unique_id, none if there is none. #}
{% macro get_node_named(operation, name, nodes) %}
  {%- set found = nodes | selectattr('unique_id', 'equalto', name) | list or nodes | selectattr('name', 'equalto',
      name) | list -%}
  {%- if found | length > 1 -%}
    {%- do exceptions.raise_compiler_error(
        operation ~ ": there are " ~ found | length ~ " models '" ~ name ~ "'. Say which by its unique_id: "
        ~ found | map(attribute='unique_id') | sort | join(', ') ~ "."
    ) -%}
  {%- endif -%}
  {%- do return(found | first if found else none) -%}
{% endmacro %}
