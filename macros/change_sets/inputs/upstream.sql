{# The models in the database from which nodes descend: all of them, or only the nearest ones. What an ephemeral model
   reads counts as read by its reader. #}
{% macro _get_built_upstream(unique_ids, is_far=true) %}
  {%- set found = [] -%}
  {%- for unique_id in unique_ids if unique_id in graph.nodes -%}
    {%- set node = graph.nodes[unique_id] -%}
    {%- set is_ephemeral = node.config.materialized == 'ephemeral' -%}
    {%- if not is_ephemeral -%}
      {%- do found.append(unique_id) -%}
    {%- endif -%}
    {%- if is_far or is_ephemeral -%}
      {%- do found.extend(versioned_collapsing._get_built_upstream(node.depends_on.nodes, is_far)) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(found | unique | list) -%}
{% endmacro %}
