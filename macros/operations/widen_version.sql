{# Changes the type of a table's version column to the one that the model declares, if that holds every stored version:
   an integer of more bits. The rows stay, and old versions stay below new ones. The table is altered last, so that an
   interrupted operation can be run again. #}
{% macro widen_version(model) %}
  {%- set node = versioned_collapsing.get_collapsing_node('widen_version', model) -%}
  {%- set table = versioned_collapsing.read_collapsing_table('widen_version', node) -%}
  {%- set options = versioned_collapsing.get_valid_options(node) -%}
  {%- set apply = versioned_collapsing.get_apply(
      node, table, options={'old_state': 'stream', 'change_feed': options.change_feed}
  ) -%}
  {%- do versioned_collapsing.prepare_ledger(table) -%}
  {%- do versioned_collapsing.acquire_lock(table, apply) -%}
  {%- set ledger = versioned_collapsing.read_restored_ledger(table, options, node, apply) -%}
  {%- do versioned_collapsing.validate_finished('widen_version', table, node, ledger, apply) -%}
  {%- set columns = versioned_collapsing.read_described_columns(table, options) -%}
  {%- set stored = versioned_collapsing.get_version_column(options, columns).type -%}
  {%- set declared = node.columns.get(options.version, {}).get('data_type') -%}
  {%- do versioned_collapsing.validate_wider_version(table, options, stored, declared, apply) -%}
  {%- set others = versioned_collapsing.read_tables([
      versioned_collapsing.get_tombstones_relation(table), versioned_collapsing.get_changes_relation(table)
  ]) -%}
  {%- for statement in versioned_collapsing.get_widen_version_statements(table, options, declared, others) -%}
    {%- do run_query(statement) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.give_up_lock(apply) -%}
  {%- do log(table ~ ': ' ~ options.version ~ ' was ' ~ stored ~ ' and is ' ~ declared ~ '.', info=true) -%}
{% endmacro %}

{% macro validate_wider_version(table, options, stored, declared, apply) %}
  {%- if declared is none or not versioned_collapsing.is_wider_integer(stored, declared) -%}
    {%- do versioned_collapsing.stop_run(apply,
        'widen_version: ' ~ options.version ~ ' is ' ~ stored ~ ' in ' ~ table ~ ', and the model declares '
        ~ (declared or 'no data_type for it') ~ '. Declare an integer of more bits that holds every ' ~ stored
        ~ ', such as Int128, or rebuild the table.'
    ) -%}
  {%- endif -%}
{% endmacro %}

{% macro get_widen_version_statements(table, options, type, others) %}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(table) -%}
  {%- set feed = versioned_collapsing.get_changes_relation(table) -%}
  {%- set version = versioned_collapsing.quote_name(options.version) -%}
  {%- set changes = [] -%}
  {%- if tombstones.identifier in others -%}
    {%- do changes.append([tombstones, [version ~ ' SimpleAggregateFunction(max, ' ~ type ~ ')']]) -%}
  {%- endif -%}
  {%- if feed.identifier in others -%}
    {%- do changes.append([feed, [version ~ ' ' ~ type, '_changed_version ' ~ type]]) -%}
  {%- endif -%}
  {%- do changes.append([table, [version ~ ' ' ~ type]]) -%}
  {%- set statements = [] -%}
  {%- for relation, columns in changes -%}
    {%- do statements.append(
        'alter table ' ~ relation ~ ' ' ~ on_cluster_clause(table) ~ ' modify column '
        ~ columns | join(', modify column ') ~ ' ' ~ versioned_collapsing.get_settings_sql()
    ) -%}
  {%- endfor -%}
  {%- do return(statements) -%}
{% endmacro %}
