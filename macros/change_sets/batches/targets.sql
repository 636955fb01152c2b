{% macro get_targets(model) %}
  {%- set found = [] -%}
  {%- for node in graph.nodes.values() if node.config.materialized == 'versioned_collapsing' -%}
    {%- if model.unique_id in node.depends_on.nodes -%}
      {%- do found.append(node) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}
