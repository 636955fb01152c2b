{# Lets versioned_collapsing apply to an existing table that it did not build: writes its first ledger row.
   The table must hold the state and cancel rows of the model. #}
{% macro adopt_table(model) %}
  {%- set node = versioned_collapsing.get_collapsing_node('adopt_table', model) -%}
  {%- set table = versioned_collapsing.read_collapsing_table('adopt_table', node) -%}
  {%- do versioned_collapsing.prepare_ledger(table) -%}
  {%- set apply = versioned_collapsing.get_apply(node, table) -%}
  {%- do versioned_collapsing.acquire_lock(table, apply) -%}
  {%- set ledger = versioned_collapsing.read_ledger(table, node) -%}
  {%- do versioned_collapsing.validate_finished('adopt_table', table, node, ledger, apply) -%}
  {%- set tables = versioned_collapsing.read_tables_of(table) -%}
  {%- if tables.tombstones -%}
    {%- do versioned_collapsing.claim_tombstones(table, tables.target.uuid) -%}
  {%- endif -%}
  {%- do versioned_collapsing.forget_begin_of_feed(table) -%}
  {%- set progress = versioned_collapsing.get_initial_progress() -%}
  {%- do versioned_collapsing.record_apply(table, apply, progress, 'adopted') -%}
  {%- do versioned_collapsing.give_up_lock(apply) -%}
  {%- do log('Adopted ' ~ table, info=true) -%}
{% endmacro %}
