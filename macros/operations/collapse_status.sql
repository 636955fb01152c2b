{# Prints how the tables of the versioned_collapsing models stand: live keys, rows that wait to collapse,
   anomalies, the last runs and what became of what they read. #}
{% macro collapse_status(model=none) %}
  {%- set nodes = [versioned_collapsing.get_collapsing_node('collapse_status', model)] if model
      else graph.nodes.values() | selectattr('config.materialized', 'equalto', 'versioned_collapsing') | sort(attribute='name') | list -%}
  {%- for node in nodes -%}
    {%- set table = adapter.get_relation(node.database, node.schema, node.alias) -%}
    {%- if table is none -%}
      {%- do log(node.name ~ ': not built', info=true) -%}
    {%- else -%}
      {%- do versioned_collapsing.create_ledger(table) -%}
      {%- do versioned_collapsing.log_collapse_status(table, node, versioned_collapsing.get_versioned_collapsing_options(node.config, node)) -%}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}


{% macro log_collapse_status(table, node, options) %}
  {%- do versioned_collapsing.validate_settings('collapse_status', versioned_collapsing.read_profile_settings()) -%}
  {%- set status = run_query(versioned_collapsing.get_collapse_status_sql(table, options)).rows[0] -%}
  {%- set ledger = versioned_collapsing.read_ledger(table, node) -%}
  {%- do log(
      table ~ ': ' ~ versioned_collapsing.format_count(status['live'], 'live row') ~ ' of ' ~ status['stored'] ~ ' stored; '
      ~ status['waiting'] ~ (' waits' if status['waiting'] | int == 1 else ' wait') ~ ' to collapse; '
      ~ status['anomalies'] ~ (' anomaly' if status['anomalies'] | int == 1 else ' anomalies')
      ~ (' (dbt run-operation repair_collapse --args \'{model: ' ~ node.name ~ '}\')' if status['anomalies'] | int else ''),
      info=true
  ) -%}
  {%- if ledger.unfinished -%}
    {%- do log('  run ' ~ ledger.unfinished.run_id ~ ' died while it wrote; dbt run --select ' ~ versioned_collapsing.get_selector(node) ~ ' completes it', info=true) -%}
  {%- endif -%}
  {%- set partitions = run_query(versioned_collapsing.get_waiting_rows_sql(table, options)) -%}
  {%- if partitions.rows -%}
    {%- do log('  rows that wait to collapse, by partition (the ten with the most):', info=true) -%}
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


{# An anomaly is a key whose uncollapsed rows are not one state row. #}
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
    ) as anomalies
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
  select
    _dbt_partition_id as partition_id,
    _dbt_stored as stored,
    _dbt_waiting as waiting,
    _dbt_parts as parts
  from (
    select
      _partition_id as _dbt_partition_id,
      count() as _dbt_stored,
      {{ versioned_collapsing.get_waiting_rows_count_sql(versioned_collapsing.quote_name(options.sign)) }} as _dbt_waiting,
      uniqExact(_part) as _dbt_parts
    from {{ table }}
    group by _dbt_partition_id
  )
  where _dbt_waiting > 0
  order by _dbt_waiting desc
  limit 10
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{% macro get_last_runs_sql(table, node) -%}
  select
    formatDateTime(max(at), '%F %T') as ended_at,
    dateDiff('second', max(at), now()) as seconds_ago,
    argMax(status, at) as last_status,
    max(arrayMax(arrayConcat([0], batches.batch))) as last_batch,
    max(rows_read) as rows,
    max(states) as states_written,
    max(cancels) as cancels_written,
    max(repaired) as keys_repaired,
    max(milliseconds) as ms
  from {{ versioned_collapsing.get_ledger_relation(table) }}
  where model = {{ versioned_collapsing.quote_literal(node.name) }}
    and target_uuid = {{ versioned_collapsing.get_table_uuid_sql(table) }}
  group by run_id
  order by max(at) desc
  limit 5
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{% macro get_last_accounts_sql(table) -%}
  select
    formatDateTime(at, '%F %T') as ended_at,
    {%- for name in versioned_collapsing.get_accounted_names() %}
    {{ name }},
    {%- endfor %}
    if({{ versioned_collapsing.get_adds_up_sql() }}, 'yes', 'no') as adds_up
  from {{ versioned_collapsing.get_ledger_relation(table) }}
  where {{ versioned_collapsing.get_has_account_sql(table) }}
  order by at desc
  limit 5
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}
