{# Changes the type of a table's version column to the one that the model declares, if that holds every stored version:
   an integer of more bits. The rows stay, and old versions stay below new ones. The table is altered last, so that an
   interrupted operation can be run again. #}
{% macro widen_version(model) %}
  {%- set node, table, options, columns, apply = versioned_collapsing.begin_operation('widen_version', model) -%}
  {%- set stored = versioned_collapsing.get_version_column(options, columns).type -%}
  {%- set declared = node.columns.get(options.version, {}).get('data_type') -%}
  {%- do versioned_collapsing.validate_wider_version(table, options, stored, declared, apply) -%}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(table) -%}
  {%- set feed = versioned_collapsing.get_feed_relation(table) -%}
  {%- set found = versioned_collapsing.read_tables(versioned_collapsing.get_relations_with_rows(table)) -%}
  {%- set version = versioned_collapsing.quote_name(options.version) ~ ' ' -%}
  {%- for relation, altered in [
      (tombstones, [version ~ 'SimpleAggregateFunction(max, ' ~ declared ~ ')']),
      (feed, [version ~ declared, '_changed_version ' ~ declared]),
      (table, [version ~ declared]),
  ] if relation == table or relation.identifier in found -%}
    {%- do versioned_collapsing.alter_table(
        relation, 'modify column ' ~ altered | join(', modify column '), versioned_collapsing.get_settings_sql()
    ) -%}
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
