{# Finds rows whose signs do not add up, and keys with several live rows, and inserts the rows that put them
   right: views on the table are put right by the same rows. Compares whole rows, and trusts no merge. Without
   `dry_run: false` it only says what it would write, as an error, for whoever waits for the exit code. #}
{% macro repair_collapse(model, dry_run=true) %}
  {%- set node = versioned_collapsing.get_collapsing_node('repair_collapse', model) -%}
  {%- set table = versioned_collapsing.get_collapsing_table('repair_collapse', node) -%}
  {%- set options = versioned_collapsing.get_versioned_collapsing_options(node.config, node) -%}
  {%- do versioned_collapsing.validate_versioned_collapsing_options(node, options) -%}
  {%- set run = versioned_collapsing.start_operation(node) -%}
  {%- do versioned_collapsing.create_ledger(table) -%}
  {%- do versioned_collapsing.acquire_lock(table, run, node.name) -%}
  {%- do versioned_collapsing.validate_finished('repair_collapse', table, node, run) -%}
  {%- set columns = versioned_collapsing.read_table_description(table, options) -%}
  {%- set found = run_query(versioned_collapsing.get_repair_counts_sql(table, options, columns)).rows[0] -%}
  {%- set message = table ~ ': ' ~ versioned_collapsing.format_count(found['broken_keys'], 'key') ~ ' to repair, by '
      ~ versioned_collapsing.format_count(found['states'], 'state row') ~ ' and '
      ~ versioned_collapsing.format_count(found['cancels'], 'cancel row') ~ '; '
      ~ versioned_collapsing.format_count(found['undecided_keys'], 'key') ~ ' with two states of one version that '
      ~ 'differ, left to a newer version' -%}
  {%- if not dry_run and found['broken_keys'] | int -%}
    {%- do versioned_collapsing.write_repairs(table, options, columns, run) -%}
    {%- do versioned_collapsing.record_run(
        table, run, 'repaired', {'repaired': found['broken_keys'], 'states': found['states'],
        'cancels': found['cancels']}
    ) -%}
    {%- do versioned_collapsing.drop_staged(table) -%}
  {%- endif -%}
  {%- do versioned_collapsing.give_up_lock(run) -%}
  {%- if dry_run and (found['broken_keys'] | int or found['undecided_keys'] | int) -%}
    {%- do exceptions.raise_compiler_error(
        "repair_collapse: " ~ message ~ ". Nothing was written."
        ~ (" To write: dbt run-operation repair_collapse --args '{model: " ~ model ~ ", dry_run: false}'"
        if found['broken_keys'] | int else '')
    ) -%}
  {%- endif -%}
  {%- do log(message ~ ('. Repaired.' if found['broken_keys'] | int else ''), info=true) -%}
{% endmacro %}
