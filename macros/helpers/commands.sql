{# The selector with which `dbt run --select` finds this node alone. #}
{% macro get_selector(node) %}
  {%- set same = graph.nodes.values() | selectattr('resource_type', 'equalto', 'model') | selectattr('name', 'equalto',
      node.name) | list -%}
  {%- set version = '.v' ~ node.version if node.version else '' -%}
  {%- set package = ',package:' ~ node.package_name if same | map(attribute='package_name') | unique | list | length > 1
      else '' -%}
  {%- do return(node.name ~ version ~ package) -%}
{% endmacro %}


{# The command that rebuilds a table, together with its change set, which must begin at the first batch, and with the
   views that follow the table. #}
{% macro get_rebuild_command(model) %}
  {%- set change_sets = versioned_collapsing.get_change_sets(model) -%}
  {%- set first = change_sets[0] if change_sets else model -%}
  {%- do return(
      'dbt run --full-refresh --select ' ~ versioned_collapsing.get_selector(first)
      ~ ('+' if change_sets or versioned_collapsing.get_followers(model) else '')
  ) -%}
{% endmacro %}


{# The change_set models that a model selects from. #}
{% macro get_change_sets(model) %}
  {%- set found = [] -%}
  {%- for unique_id in model.depends_on.nodes if unique_id in graph.nodes
      and graph.nodes[unique_id].config.materialized == 'change_set' -%}
    {%- do found.append(graph.nodes[unique_id]) -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}


{# The models that are rebuilt with a table: views that are maintained from it, and materialized views on it. #}
{% macro get_followers(model) %}
  {%- set found = [] -%}
  {%- for node in graph.nodes.values() if node.config.materialized in ('versioned_collapsing_view', 'materialized_view')
      and model.unique_id in node.depends_on.nodes -%}
    {%- do found.append(node) -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}
