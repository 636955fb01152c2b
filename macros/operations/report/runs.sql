{% macro get_report_server_sql() -%}
  select
    version() as version,
    formatDateTime(now('UTC'), '%F %T') as now
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{# What all runs together have done with a table. #}
{% macro get_report_totals_sql(table) -%}
  select
    sum(_dbt_row.rows_read) as rows_read,
    {%- for name in versioned_collapsing.get_accounted_names() %}
    sum(_dbt_row.{{ name }}) as {{ name }},
    {%- endfor %}
    sum(_dbt_row.cancels) as cancels,
    countIf(not _dbt_row._dbt_adds_up) as not_adding_up
  from (
    select *, events is null or ({{ versioned_collapsing.get_adds_up_sql() }}) as _dbt_adds_up
    from {{ versioned_collapsing.get_ledger_relation(table) }}
    where target_uuid = {{ versioned_collapsing.get_table_uuid_sql(table) }}
      and status in ('applied', 'partial', 'repaired')
  ) as _dbt_row
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{# The last runs, the oldest first. `states_written` and `cancels_written` are the sums since the first run.
   `lag_seconds`: from when the first batch of the run had landed until its rows were visible. #}
{% macro get_report_runs_sql(table, runs) -%}
  select *
  from (
    select
      run_id,
      formatDateTime(ended, '%F %T') as ended_at,
      last_status as status,
      last_milliseconds / 1000 as seconds,
      if(notEmpty(last_landed_at), (toUnixTimestamp64Micro(ended) - toUnixTimestamp64Micro(arrayMin(last_landed_at)))
          / 1000000, null) as lag_seconds,
      length(last_batches) as batches,
      arrayMax(arrayPushBack(last_batches, 0)) as last_batch,
      {%- for name in versioned_collapsing.get_count_names() %}
      last_{{ name }} as {{ name }},
      {%- endfor %}
      sum(last_states) over (order by ended, run_id rows unbounded preceding) as states_written,
      sum(last_cancels) over (order by ended, run_id rows unbounded preceding) as cancels_written,
      row_number() over (order by ended desc, run_id desc) as _dbt_age
    from (
      select
        run_id,
        max(at) as ended,
        argMax(status, at) as last_status,
        argMax(milliseconds, at) as last_milliseconds,
        argMax(landed_at, at) as last_landed_at,
        argMax(batches.batch, at) as last_batches,
        {%- for name in versioned_collapsing.get_count_names() %}
        argMax({{ name }}, at) as last_{{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
      from {{ versioned_collapsing.get_ledger_relation(table) }}
      where target_uuid = {{ versioned_collapsing.get_table_uuid_sql(table) }}
      group by run_id
    )
  )
  where _dbt_age <= {{ runs }}
  order by _dbt_age desc
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}
