{# Prints what a report shows about the versioned_collapsing models as JSON, for `dbt-spark-clickhouse report` and any
   other reader of JSON. `runs`: how many of the last runs of each table to include. #}
{% macro report_data(runs=500) %}
  {%- do versioned_collapsing.validate_settings('report_data', versioned_collapsing.read_profile_settings()) -%}
  {%- set tables = [] -%}
  {%- for node in versioned_collapsing.get_collapsing_nodes() -%}
    {%- set table = adapter.get_relation(node.database, node.schema, node.alias) -%}
    {%- set built = versioned_collapsing.read_report_of_table(table, node, runs) if table is not none else {} -%}
    {%- do tables.append(dict(built,
        name=node.schema ~ '.' ~ node.alias,
        model=versioned_collapsing.get_selector(node),
        description=node.description,
        rebuild=versioned_collapsing.get_rebuild_command(node),
        is_built=table is not none
    )) -%}
  {%- endfor -%}
  {%- do print(tojson({
      'project': project_name,
      'target': target.name,
      'server': versioned_collapsing.read_json_rows(versioned_collapsing.get_report_server_sql())[0],
      'tables': tables,
  })) -%}
{% endmacro %}

{# What a report shows about one table. #}
{% macro read_report_of_table(table, node, runs) %}
  {%- do versioned_collapsing.prepare_ledger(table) -%}
  {%- set options = versioned_collapsing.get_valid_options(node) -%}
  {%- set views = [] -%}
  {%- for view in versioned_collapsing.get_dependents(node)
      if view.config.materialized == 'versioned_collapsing_view' -%}
    {%- set found = versioned_collapsing.read_json_rows(versioned_collapsing.get_status_of_view_sql(table, view)) -%}
    {%- do views.append(dict(
        found[0], name=view.schema ~ '.' ~ view.alias, model=versioned_collapsing.get_selector(view)
    )) -%}
  {%- endfor -%}
  {%- set ledger = versioned_collapsing.read_ledger(table, node) -%}
  {%- do return({
      'status': versioned_collapsing.read_json_rows(
          versioned_collapsing.get_collapse_status_sql(table, options)
      )[0],
      'is_interrupted': ledger.unfinished is not none,
      'partitions': versioned_collapsing.read_json_rows(versioned_collapsing.get_waiting_rows_sql(table, options)),
      'totals': versioned_collapsing.read_json_rows(versioned_collapsing.get_report_totals_sql(table))[0],
      'runs': versioned_collapsing.read_json_rows(versioned_collapsing.get_report_runs_sql(table, runs)),
      'storage': versioned_collapsing.read_json_rows(versioned_collapsing.get_report_storage_sql(table)),
      'views': views,
      'quarantined': versioned_collapsing._read_quarantined(table, node, options),
      'keeps_lines': versioned_collapsing._is_line_kept(node),
      'verifications': versioned_collapsing._read_verifications(table),
  }) -%}
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

{# How far a view is with the applies to a table. #}
{% macro get_status_of_view_sql(table, view) -%}
  {%- set relation = api.Relation.create(schema=view.schema, identifier=view.alias) -%}
  {{ versioned_collapsing.get_view_status_sql(table, relation) }}
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}

{# The rows of a query as mappings, with the values that JSON has. dbt's own reading of results guesses types: it takes
   the text '007' for a number. #}
{% macro read_json_rows(sql) %}
  {%- set query -%}
    select toValidUTF8(toJSONString(groupArray(tuple(*)))) as _dbt_json
    from ({{ sql }})
    {{ versioned_collapsing.get_settings_sql(none, {
        'enable_named_columns_in_function_tuple': 1,
        'output_format_json_named_tuples_as_objects': 1,
        'output_format_json_quote_64bit_integers': 0,
        'output_format_json_quote_decimals': 0,
        'output_format_json_quote_denormals': 1,
    }) }}
  {%- endset -%}
  {%- do return(fromjson(run_query(query).rows[0]['_dbt_json'])) -%}
{% endmacro %}

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
      and status in ('applied', 'partial', 'rebalanced', 'forgotten')
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
      {%- for name in versioned_collapsing._get_reported_names() %}
      last_{{ name }} as {{ name }},
      {%- endfor %}
      last_status not in ('applied', 'partial') or events is null or ({{ versioned_collapsing.get_adds_up_sql() }})
        as adds_up,
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
        {%- for name in versioned_collapsing._get_reported_names() %}
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

{% macro _get_reported_names() %}
  {%- do return(versioned_collapsing.get_count_names() + versioned_collapsing.get_line_count_names()) -%}
{% endmacro %}

{# The space that a table and its helper tables take on disk. #}
{% macro get_report_storage_sql(table) -%}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(table).identifier -%}
  {%- set feed = versioned_collapsing.get_feed_relation(table).identifier -%}
  {%- set staged = table.identifier ~ '__dbt_' -%}
  select
    multiIf(
      table = {{ versioned_collapsing.quote_literal(table.identifier) }}, 'stored rows',
      table = {{ versioned_collapsing.quote_literal(tombstones) }}, 'tombstones',
      table = {{ versioned_collapsing.quote_literal(feed) }}, 'change feed',
      'staged tables'
    ) as part,
    sum(rows) as stored,
    count() as parts,
    sum(bytes_on_disk) as bytes,
    sum(data_uncompressed_bytes) as uncompressed_bytes
  from system.parts
  where active
    and database = {{ versioned_collapsing.quote_literal(table.schema) }}
    and (
      table in ({{ versioned_collapsing.quote_literals([table.identifier, tombstones, feed]) }})
      or startsWith(table, {{ versioned_collapsing.quote_literal(staged) }})
    )
  group by part
  order by part
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}

{# Whether a quarantine has the lines that the change sets of a table leave out. #}
{% macro _is_line_kept(node) %}
  {%- set kept = versioned_collapsing.get_nodes_with_kept_lines() -%}
  {%- set read = [] -%}
  {%- for change_set in versioned_collapsing.get_change_sets(node) -%}
    {%- do read.extend(change_set.depends_on.nodes) -%}
  {%- endfor -%}
  {%- do return(read | select('in', kept) | list != []) -%}
{% endmacro %}

{# For a quarantine: its lines by reason and day. None for any other model. #}
{% macro _read_quarantined(table, node, options) %}
  {%- if 'macro.versioned_collapsing.replace_quarantined_batches' in node.depends_on.macros -%}
    {%- do return(versioned_collapsing.read_json_rows(
        versioned_collapsing.get_report_quarantined_sql(table, options)
    )) -%}
  {%- endif -%}
  {%- do return(none) -%}
{% endmacro %}

{# The lines of a quarantine, by reason, source and the day on which their batch was taken. The version of a line is
   that time, in microseconds. #}
{% macro get_report_quarantined_sql(table, options) -%}
  select _dbt_source as source, _dbt_reason as why, _dbt_day as day, _dbt_n as n
  from (
    select
      toString(source_table) as _dbt_source,
      toString(reason) as _dbt_reason,
      toString(toDate(
        fromUnixTimestamp64Micro({{ versioned_collapsing.quote_name(options.version) }}, 'UTC')
      )) as _dbt_day,
      count() as _dbt_n
    from {{ table }} final -- the live lines: repaired ones have left
    where {{ versioned_collapsing.quote_name(options.sign) }} = 1
    group by _dbt_source, _dbt_reason, _dbt_day
  )
  order by day, source, why
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}

{% macro _read_verifications(table) %}
  {%- set relation = versioned_collapsing.get_verifications_relation(table) -%}
  {%- if versioned_collapsing.read_tables([relation]) -%}
    {%- do return(versioned_collapsing.read_json_rows(
        versioned_collapsing.get_report_verifications_sql(table, relation)
    )) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}

{# The last cycle of `reconcile`, with its sums. #}
{% macro get_report_verifications_sql(table, verifications) -%}
  {%- set is_of_table = 'target_uuid = ' ~ versioned_collapsing.get_table_uuid_sql(table) -%}
  select
    cycle as cycle,
    formatDateTime(minIf(at, status <> 'planned'), '%F %T') as first_at,
    formatDateTime(maxIf(at, status <> 'planned'), '%F %T') as last_at,
    uniqExactIf(range, status <> 'planned') as verified,
    any(ranges) as ranges,
    any(reference) as reference,
    argMax(position, at) as position,
    {%- for name in versioned_collapsing.get_verified_names() %}
    sum({{ name }}) as {{ name }},
    {%- endfor %}
    arrayStringConcat(groupArrayIf(differing_keys, differing_keys <> ''), ', ') as differing_keys
  from {{ verifications }}
  where {{ is_of_table }} and cycle = (select max(cycle) from {{ verifications }} where {{ is_of_table }})
  group by cycle
  having verified > 0
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}

{% macro get_report_server_sql() -%}
  select
    version() as version,
    formatDateTime(now('UTC'), '%F %T') as now
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}
