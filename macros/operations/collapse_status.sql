{# Prints the state of the tables of versioned_collapsing models: live keys, rows that wait for a merge, unbalanced
   keys, the change feed, the views on it, and the last runs with what became of their events. #}
{% macro collapse_status(model=none) %}
  {%- set nodes = [versioned_collapsing.get_collapsing_node('collapse_status', model)] if model
      else versioned_collapsing.get_collapsing_nodes() -%}
  {%- for node in nodes -%}
    {%- set table = adapter.get_relation(node.database, node.schema, node.alias) -%}
    {%- if table is none -%}
      {%- do print(node.name ~ ': not built') -%}
    {%- else -%}
      {%- do versioned_collapsing.prepare_ledger(table) -%}
      {%- do versioned_collapsing._print_collapse_status(table, node, versioned_collapsing.get_valid_options(node)) -%}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}

{% macro _print_collapse_status(table, node, options) %}
  {%- do versioned_collapsing.validate_settings('collapse_status', versioned_collapsing.read_profile_settings()) -%}
  {%- do versioned_collapsing.validate_no_virtual_columns(
      table, versioned_collapsing.read_table_columns(table) | map(attribute='name') | list
  ) -%}
  {%- set status = run_query(versioned_collapsing.get_collapse_status_sql(table, options)).rows[0] -%}
  {%- set ledger = versioned_collapsing.read_ledger(table, node) -%}
  {%- do print(
      table.render() | replace('`', '') ~ ': ' ~ versioned_collapsing.format_count(status['live'], 'live row') ~ ' of '
      ~ status['stored'] ~ ' stored; ' ~ versioned_collapsing.format_count(status['waiting'], 'row')
      ~ ' waiting for a merge; ' ~ versioned_collapsing.format_count(status['unbalanced_keys'], 'unbalanced key')
  ) -%}
  {%- if status['unbalanced_keys'] | int -%}
    {%- do print('  repair: dbt run-operation rebalance --args \'{model: ' ~ node.name ~ '}\'') -%}
  {%- endif -%}
  {%- if ledger.unfinished -%}
    {%- do print(
        '  run ' ~ ledger.unfinished.run_id ~ ' was interrupted while it published rows; to complete it:\n'
        ~ '    dbt run --select ' ~ versioned_collapsing.get_selector(node)
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing._print_feed_status(table, node, options) -%}
  {%- set partitions = [] -%}
  {%- for row in versioned_collapsing.read_json_rows(versioned_collapsing.get_waiting_rows_sql(table, options)) -%}
    {%- do partitions.append(
        row.partition_id ~ ' (' ~ row.waiting ~ ' of ' ~ row.stored ~ ' in '
        ~ versioned_collapsing.format_count(row.parts, 'part') ~ ')'
    ) -%}
  {%- endfor -%}
  {%- if partitions -%}
    {%- do versioned_collapsing._print_wrapped('waiting, by partition: ' ~ partitions | join(', ')) -%}
  {%- endif -%}
  {%- set runs = versioned_collapsing.read_json_rows(versioned_collapsing.get_report_runs_sql(table, 5)) -%}
  {%- for run in runs | reverse -%}
    {%- do versioned_collapsing._print_wrapped(versioned_collapsing._get_run_text(run)) -%}
  {%- endfor -%}
{% endmacro %}

{# A run in words, without the counts that are 0. #}
{% macro _get_run_text(run) %}
  {%- set lines = [] -%}
  {%- for name in versioned_collapsing.get_line_count_names() if name != 'lines' and run[name] -%}
    {%- do lines.append(run[name] ~ ' ' ~ name) -%}
  {%- endfor -%}
  {%- do return(
      run.ended_at ~ ' ' ~ run.status ~ (' batch ' ~ run.last_batch if run.batches == 1
      else ' ' ~ run.batches ~ ' batches up to ' ~ run.last_batch if run.batches else '') ~ ': '
      ~ (versioned_collapsing.get_counts_text(run) or 'nothing to change')
      ~ ('; ' ~ versioned_collapsing.format_count(run.lines, 'line') ~ ': ' ~ lines | join(', ') if run.lines else '')
      ~ ('' if run.adds_up else '; these do not add up') ~ ' (' ~ '%.1f' | format(run.seconds) ~ ' s)'
  ) -%}
{% endmacro %}

{# Prints a text in lines of at most 100 characters. #}
{% macro _print_wrapped(text) %}
  {%- do print('  ' ~ text | wordwrap(96, break_long_words=false) | replace('\n', '\n    ')) -%}
{% endmacro %}

{# Prints the lines about the change feed of a table, and about the views that are maintained from it. #}
{% macro _print_feed_status(table, node, options) %}
  {%- set feed = versioned_collapsing.get_change_feed(table, options, node) -%}
  {%- if feed and versioned_collapsing.read_feed_columns(table, feed.relation).feed -%}
    {%- set found = run_query(versioned_collapsing.get_feed_status_sql(feed.relation)).rows[0] -%}
    {%- do print(
        '  change feed ' ~ feed.relation.identifier ~ ': ' ~ versioned_collapsing.format_count(found['n'], 'row')
        ~ (' of applies ' ~ found['_dbt_first'] ~ ' to ' ~ found['_dbt_last'] if found['n'] | int else '')
    ) -%}
  {%- endif -%}
  {%- for view in versioned_collapsing.get_dependents(node)
      if view.config.materialized == 'versioned_collapsing_view' -%}
    {%- set found = run_query(versioned_collapsing.get_status_of_view_sql(table, view)).rows[0] -%}
    {%- do print('  view ' ~ view.name ~ ': ' ~ versioned_collapsing._get_view_status(view, found)) -%}
  {%- endfor -%}
{% endmacro %}

{% macro get_feed_status_sql(feed_relation) -%}
  select count() as n, min(_apply) as _dbt_first, max(_apply) as _dbt_last
  from {{ feed_relation }}
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}

{% macro _get_view_status(view, found) %}
  {%- set command = 'dbt run --select ' ~ versioned_collapsing.get_selector(view) -%}
  {%- if not found['fills'] | int -%}
    {%- do return('not filled from this table (' ~ command ~ ')') -%}
  {%- elif found['used'] | int < found['last'] | int -%}
    {%- do return('has used apply ' ~ found['used'] ~ ' of ' ~ found['last'] ~ ' (' ~ command ~ ')') -%}
  {%- endif -%}
  {%- do return('up to date') -%}
{% endmacro %}
