{# The models on Spark from which a change set selects. Each comes with its columns, its sources of files, and whether
   there are only views between the files and the change set. A model without `_batch` is ignored. `parsed` is the table
   of parsed lines from which the SQL reads, if there is one. #}
{% macro read_inputs(model, taken, code) %}
  {%- set inputs = [] -%}
  {%- for unique_id in versioned_collapsing._get_built_upstream(model.depends_on.nodes, is_far=false)
      if graph.nodes[unique_id].config.materialized != 'change_set' -%}
    {%- set node = graph.nodes[unique_id] -%}
    {%- set relation = adapter.get_relation(node.database, node.schema, node.alias) -%}
    {%- set found = adapter.get_columns_in_relation(relation) if relation is not none else [] -%}
    {%- set columns = found | map(attribute='name') | list -%}
    {%- if '_batch' in columns -%}
      {%- set kinds = [] -%}
      {%- for other in [unique_id] + versioned_collapsing._get_built_upstream(node.depends_on.nodes) -%}
        {%- do kinds.append(graph.nodes[other].config.materialized) -%}
      {%- endfor -%}
      {%- set input = {
          'name': node.name,
          'unique_id': unique_id,
          'relation': relation,
          'columns': columns,
          'sources': versioned_collapsing.get_file_sources(node),
          'is_view': kinds | reject('in', ['view', 'seed']) | list | length == 0,
      } -%}
      {%- do input.update(versioned_collapsing.read_parsed_lines(model, input, taken, code)) -%}
      {%- do inputs.append(input) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(inputs) -%}
{% endmacro %}
