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


{# The partitions with the most rows that wait for a merge, if these are a share of its rows. #}
{% macro get_waiting_rows_sql(table, options, share=0, most=10) -%}
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
  where _dbt_waiting > 0 and _dbt_waiting >= _dbt_stored * {{ share }}
  order by _dbt_waiting desc
  limit {{ most }}
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{# Prints the lines about the change feed of a table, and about the views that are maintained from it. #}
{% macro log_feed_status(table, node, options) %}
  {%- set feed = versioned_collapsing.get_change_feed(table, options, node) -%}
  {%- if feed and versioned_collapsing.read_feed_columns(table, feed.relation).feed -%}
    {%- set found = run_query(versioned_collapsing.get_feed_status_sql(feed.relation)).rows[0] -%}
    {%- do log(
        '  change feed ' ~ feed.relation.identifier ~ ': ' ~ versioned_collapsing.format_count(found['n'], 'row')
        ~ (' of applies ' ~ found['_dbt_first'] ~ ' to ' ~ found['_dbt_last'] if found['n'] | int else ''), info=true
    ) -%}
  {%- endif -%}
  {%- for view in versioned_collapsing.get_dependents(node)
      if view.config.materialized == 'versioned_collapsing_view' -%}
    {%- set found = run_query(versioned_collapsing.get_status_of_view_sql(table, view)).rows[0] -%}
    {%- do log(
        '  view ' ~ view.name ~ ': ' ~ versioned_collapsing._get_view_status(view, found), info=true
    ) -%}
  {%- endfor -%}
{% endmacro %}


{% macro get_feed_status_sql(feed_relation) -%}
  select count() as n, min(_apply) as _dbt_first, max(_apply) as _dbt_last
  from {{ feed_relation }}
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{# How far a view is with the applies to a table. #}
{% macro get_status_of_view_sql(table, view) -%}
  {%- set relation = api.Relation.create(schema=view.schema, identifier=view.alias) -%}
  {{ versioned_collapsing.get_view_status_sql(table, relation) }}
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


{% macro get_last_runs_sql(table, node) -%}
  select
    formatDateTime(max(at), '%F %T') as ended_at,
    dateDiff('second', max(at), now()) as seconds_ago,
    argMax(status, at) as last_status,
    max(arrayMax(arrayConcat([0], batches.batch))) as last_batch,
    max(rows_read) as rows,
    max(states) as states_written,
    max(cancels) as cancels_written,
    max(rebalanced) as keys_rebalanced,
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
