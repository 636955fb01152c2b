{# Prints the state of the tables of versioned_collapsing models: live keys, rows that wait for a merge, unbalanced
   keys, the change feed, the views on it, and the last runs with what became of their events. #}
{% macro collapse_status(model=none) %}
  {%- set nodes = [versioned_collapsing.get_collapsing_node('collapse_status', model)] if model
      else versioned_collapsing.get_collapsing_nodes() -%}
  {%- for node in nodes -%}
    {%- set table = adapter.get_relation(node.database, node.schema, node.alias) -%}
    {%- if table is none -%}
      {%- do log(node.name ~ ': not built', info=true) -%}
    {%- else -%}
      {%- do versioned_collapsing.prepare_ledger(table) -%}
      {%- do versioned_collapsing.log_collapse_status(table, node, versioned_collapsing.get_valid_options(node)) -%}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}


{% macro log_collapse_status(table, node, options) %}
  {%- do versioned_collapsing.validate_settings('collapse_status', versioned_collapsing.read_profile_settings()) -%}
  {%- do versioned_collapsing.validate_no_virtual_columns(
      table, versioned_collapsing.read_table_columns(table) | map(attribute='name') | list
  ) -%}
  {%- set status = run_query(versioned_collapsing.get_collapse_status_sql(table, options)).rows[0] -%}
  {%- set ledger = versioned_collapsing.read_ledger(table, node) -%}
  {%- do log(
      table ~ ': ' ~ versioned_collapsing.format_count(status['live'], 'live row') ~ ' of ' ~ status['stored']
      ~ ' stored; ' ~ versioned_collapsing.format_count(status['waiting'], 'row') ~ ' waiting for a merge; '
      ~ versioned_collapsing.format_count(status['unbalanced_keys'], 'unbalanced key')
      ~ (' (dbt run-operation rebalance --args \'{model: ' ~ node.name ~ '}\')' if status['unbalanced_keys'] | int
      else ''),
      info=true
  ) -%}
  {%- if ledger.unfinished -%}
    {%- do log(
        '  run ' ~ ledger.unfinished.run_id ~ ' was interrupted while it published rows; dbt run --select '
        ~ versioned_collapsing.get_selector(node) ~ ' completes it', info=true
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.log_feed_status(table, node, options) -%}
  {%- set partitions = run_query(versioned_collapsing.get_waiting_rows_sql(table, options)) -%}
  {%- if partitions.rows -%}
    {%- do log('  rows waiting for a merge, by partition (the 10 partitions with the most):', info=true) -%}
    {%- do versioned_collapsing.log_table(partitions, '    ') -%}
  {%- endif -%}
  {%- set runs = run_query(versioned_collapsing.get_last_runs_sql(table, node)) -%}
  {%- if runs.rows -%}
    {%- do log('  last runs:', info=true) -%}
    {%- do versioned_collapsing.log_table(runs, '    ') -%}
  {%- endif -%}
  {%- set accounts = run_query(versioned_collapsing.get_last_accounts_sql(table)) -%}
  {%- if accounts.rows -%}
    {%- do log('  what became of the lines and events of the last runs:', info=true) -%}
    {%- do versioned_collapsing.log_table(accounts, '    ') -%}
  {%- endif -%}
{% endmacro %}


{# A key is unbalanced if its uncollapsed rows are not exactly one state row. #}
{% macro get_collapse_status_sql(table, options) -%}
  {%- set sign = versioned_collapsing.quote_name(options.sign) -%}
  select
    _dbt_live as live,
    _dbt_stored as stored,
    _dbt_waiting as waiting,
    (
      select count()
      from (
        select {{ versioned_collapsing.quote_names(options.unique_key) }}
        from {{ table }} final
        group by all
        having count() > 1 or min({{ sign }}) < 0
      )
    ) as unbalanced_keys
  from (
    select
      sum({{ sign }}) as _dbt_live,
      count() as _dbt_stored,
      {{ versioned_collapsing.get_waiting_rows_count_sql(sign) }} as _dbt_waiting
    from {{ table }}
  )
  {{ versioned_collapsing.get_settings_sql(none, {'do_not_merge_across_partitions_select_final': 1}) }}
{%- endmacro %}


{% macro get_waiting_rows_sql(table, options) -%}
  {%- set sign = versioned_collapsing.quote_name(options.sign) -%}
  select
    _dbt_partition_id as partition_id,
    _dbt_stored as stored,
    _dbt_waiting as waiting,
    _dbt_parts as parts
  from (
    select
      _partition_id as _dbt_partition_id,
      count() as _dbt_stored,
      {{ versioned_collapsing.get_waiting_rows_count_sql(sign) }} as _dbt_waiting,
      uniqExact(_part) as _dbt_parts
    from {{ table }}
    group by _dbt_partition_id
  )
  where _dbt_waiting > 0
  order by _dbt_waiting desc
  limit 10
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}
