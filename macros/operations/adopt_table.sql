{# Lets versioned_collapsing apply to an existing table that it did not build: writes its first ledger row.
   The table must hold the state and cancel rows of the model. #}
{% macro adopt_table(model) %}
  {%- set nodes = graph.nodes.values() | selectattr('name', 'equalto', model) | selectattr('config.materialized', 'equalto', 'versioned_collapsing') | list -%}
  {%- if not nodes -%}
    {%- do exceptions.raise_compiler_error("adopt_table: there is no versioned_collapsing model '" ~ model ~ "' in the project.") -%}
  {%- endif -%}
  {%- set node = nodes[0] -%}
  {%- set target = adapter.get_relation(node.database, node.schema, node.alias) -%}
  {%- if target is none -%}
    {%- do exceptions.raise_compiler_error("adopt_table: the table " ~ node.schema ~ '.' ~ node.alias ~ " does not exist.") -%}
  {%- endif -%}
  {%- do create_ledger(target) -%}
  {%- do record_run(target, start_run(node, {'batches': [], 'exists': false, 'is_partial': false}, {'old_state': 'lookup', 'shards': 1}), 'adopted', {}) -%}
  {%- do log('Adopted ' ~ target, info=true) -%}
{% endmacro %}
