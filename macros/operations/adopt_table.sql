{# Lets versioned_collapsing apply to an existing table that it did not build: writes its first ledger row.
   The table must hold the state and cancel rows of the model. #}
{% macro adopt_table(model) %}
  {%- set node = versioned_collapsing.get_collapsing_node('adopt_table', model) -%}
  {%- set table = versioned_collapsing.get_collapsing_table('adopt_table', node) -%}
  {%- do versioned_collapsing.create_ledger(table) -%}
  {%- set run = versioned_collapsing.start_operation(node) -%}
  {%- do versioned_collapsing.validate_finished('adopt_table', table, node, run) -%}
  {%- if versioned_collapsing.read_comment(versioned_collapsing.get_tombstones_relation(table)) is not none -%}
    {%- do versioned_collapsing.claim_tombstones(table) -%}
  {%- endif -%}
  {%- do versioned_collapsing.record_run(table, run, 'adopted', {}) -%}
  {%- do log('Adopted ' ~ table, info=true) -%}
{% endmacro %}
