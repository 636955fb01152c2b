{# Lets versioned_collapsing apply to an existing table that it did not build: writes its first ledger row.
   The table must hold the state and cancel rows of the model. #}
{% macro adopt_table(model) %}
  {%- set node = get_collapsing_node('adopt_table', model) -%}
  {%- set table = get_collapsing_table('adopt_table', node) -%}
  {%- do create_ledger(table) -%}
  {%- do record_run(table, start_operation(node), 'adopted', {}) -%}
  {%- do log('Adopted ' ~ table, info=true) -%}
{% endmacro %}
