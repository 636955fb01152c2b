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
