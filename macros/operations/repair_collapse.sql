{# Finds rows whose signs do not add up, keys with several live rows, and live rows of deleted keys. Inserts the rows
   that correct them; these rows correct views on the table too. Compares whole rows, and relies on no merge. Without
   `dry_run: false` it only says what it would write. It does so as an error, so that the exit code shows it. #}
{% macro repair_collapse(model, dry_run=true) %}
  {%- set node = versioned_collapsing.get_collapsing_node('repair_collapse', model) -%}
  {%- set table = versioned_collapsing.read_collapsing_table('repair_collapse', node) -%}
  {%- set options = versioned_collapsing.get_valid_options(node) -%}
  {%- set apply = versioned_collapsing.start_apply(
      node, table, options={'old_state': 'stream', 'change_feed': options.change_feed}
  ) -%}
  {%- do versioned_collapsing.prepare_ledger(table) -%}
  {%- do versioned_collapsing.acquire_lock(table, apply) -%}
  {%- set ledger = versioned_collapsing.read_restored_ledger(table, options, node, apply) -%}
  {%- set apply = dict(apply, number=ledger.number + 1) -%}
  {%- do versioned_collapsing.validate_finished('repair_collapse', table, node, ledger, apply) -%}
  {%- set columns = versioned_collapsing.read_table_description(table, options) -%}
  {%- set repairs = versioned_collapsing.read_repairs_sql(table, options, columns) -%}
  {%- set found = versioned_collapsing.read_repair_counts(options, repairs) -%}
  {%- if found.broken_keys and not dry_run -%}
    {%- do versioned_collapsing.write_repairs(table, options, columns, repairs, found, apply) -%}
  {%- endif -%}
  {%- do versioned_collapsing.give_up_lock(apply) -%}
  {%- if dry_run -%}
    {%- do versioned_collapsing.validate_nothing_to_repair(table, found, model) -%}
  {%- endif -%}
  {%- set end = '. Repaired.' if found.broken_keys else '' -%}
  {%- do log(versioned_collapsing.get_repair_message(table, found) ~ end, info=true) -%}
{% endmacro %}


{# A dry run that finds something is an error, so that the exit code shows it. #}
{% macro validate_nothing_to_repair(table, found, model) %}
  {%- set command = "dbt run-operation repair_collapse --args '{model: " ~ model ~ ", dry_run: false}'" -%}
  {%- if found.broken_keys or found.undecided_keys -%}
    {%- do exceptions.raise_compiler_error(
        "repair_collapse: " ~ versioned_collapsing.get_repair_message(table, found) ~ ". Nothing was written."
        ~ (" To write the rows: " ~ command if found.broken_keys else '')
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro get_repair_message(table, found) %}
  {%- do return(
      table ~ ': ' ~ versioned_collapsing.format_count(found.broken_keys, 'key') ~ ' to repair with '
      ~ versioned_collapsing.format_count(found.states, 'state row') ~ ' and '
      ~ versioned_collapsing.format_count(found.cancels, 'cancel row') ~ '; '
      ~ versioned_collapsing.format_count(found.undecided_keys, 'key')
      ~ ' with two different state rows of one version, left until a newer version comes'
  ) -%}
{% endmacro %}
