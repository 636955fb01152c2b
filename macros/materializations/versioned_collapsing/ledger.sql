{% macro create_ledger(target) %}
  {% call statement('create_ledger') -%}
    create table if not exists {{ versioned_collapsing.get_ledger_relation(target) }} {{ on_cluster_clause(target) }} (
      model String comment 'Name of the model',
      target_uuid UUID comment 'UUID of the table that was applied to; a rebuilt table has another',
      invocation_id String comment 'dbt invocation',
      run_id String comment 'One apply of one model',
      status LowCardinality(String) comment 'started, block applied, chunk applied, applied, adopted, repaired, filled (a view), or partial (a run with --empty or --sample)',
      at DateTime64(6, 'UTC') comment 'When the row was written',
      batches Array(Tuple(batch UInt64, hash String)) comment 'Batches of the landing zone that the change set held',
      {%- for name, definition in versioned_collapsing.get_accounting_columns().items() %}
      {{ name }} {{ definition }},
      {%- endfor %}
      rows_read UInt64 comment 'Rows of the change set',
      keys UInt64 comment 'Keys of the change set',
      states UInt64 comment 'State rows written',
      cancels UInt64 comment 'Cancel rows written',
      deletes UInt64 comment 'Deletes applied',
      duplicates UInt64 comment 'Changes that repeat a change',
      stale UInt64 comment 'Changes below the version of the live row',
      unmerged UInt64 comment 'Partial changes that could not be combined: stale, or of a key that is not there',
      conflicts UInt64 comment 'Changes at the version of the live row with another payload',
      tombstoned UInt64 comment 'Changes at or below the version at which their key was deleted',
      repaired UInt64 comment 'Keys whose rows were healed',
      milliseconds UInt64 comment 'From the start of the model to this row',
      publish LowCardinality(String) comment 'How rows are written: direct, journal or stream',
      block UInt32 comment 'With a journal: block of the chunk that is written next',
      chunk UInt32 comment 'Chunk that the row is about',
      chunks UInt32 comment 'Chunks of the apply',
      is_partial Bool comment 'Whether it was a run with --empty or --sample',
      truncated_at String comment 'Version at which the table was truncated; empty if it was not',
      source_uuid UUID comment 'Of a view: UUID of the table that it follows',
      definition String comment 'Of a view: hash of its definition; with a journal: hashes of the views on the table; and whether deletes were remembered'
    )
    engine = MergeTree
    order by (model, at)
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
  {%- do versioned_collapsing.add_accounting_columns(target) -%}
{% endmacro %}


{# The columns that account for lines and events; a ledger of an earlier version lacks them. #}
{% macro get_accounting_columns() %}
  {%- do return({
      'lines': "Nullable(UInt64) comment 'Lines of the batches; null where the change set does not tell'",
      'blank': "Nullable(UInt64) comment 'Lines that say nothing'",
      'quarantined': "Nullable(UInt64) comment 'Lines that cannot be used'",
      'passed_over': "Nullable(UInt64) comment 'Messages that are no changes'",
      'events': "Nullable(UInt64) comment 'Events to account for; null in rows that account for none'",
      'superseded': "UInt64 comment 'Events below a later one of their key in the same change set'",
      'derived': "UInt64 comment 'Deletes that no event is: of an old key, of a row that an extract lacks, of a truncated row'",
      'truncates': "UInt64 comment 'Truncates'",
  }) -%}
{% endmacro %}


{% macro add_accounting_columns(target) %}
  {%- set ledger = versioned_collapsing.get_ledger_relation(target) -%}
  {%- set columns = versioned_collapsing.get_accounting_columns() -%}
  {%- set query -%}
    select count() as _dbt_n
    from system.columns
    where {{ versioned_collapsing.get_is_table_sql(ledger, 'table') }}
      and name in ({{ versioned_collapsing.quote_literals(columns) }})
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- if run_query(query).rows[0]['_dbt_n'] | int < columns | length -%}
    {% call statement('add_accounting_columns') -%}
      alter table {{ ledger }} {{ on_cluster_clause(target) }}
      {%- for name, definition in columns.items() %}
      add column if not exists {{ name }} {{ definition }}{{ ',' if not loop.last }}
      {%- endfor %}
      {{ versioned_collapsing.get_settings_sql() }}
    {%- endcall %}
  {%- endif -%}
{% endmacro %}


{# What the last row of a run says that was counted until then, for the run that completes it. #}
{% macro read_recorded_counts(target, run) %}
  {%- set line_names = versioned_collapsing.get_line_count_names() -%}
  {%- set names = versioned_collapsing.get_count_names() -%}
  {%- set query -%}
    select {{ (line_names + names) | join(', ') }}
    from {{ versioned_collapsing.get_ledger_relation(target) }}
    where model = {{ versioned_collapsing.quote_literal(run.model) }} and run_id = {{ versioned_collapsing.quote_literal(run.run_id) }}
    order by at desc
    limit 1
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set recorded = {'line_counts': {}, 'counts': {}} -%}
  {%- for name in line_names -%}
    {%- do recorded.line_counts.update({name: found[name]}) -%}
  {%- endfor -%}
  {%- for name in names -%}
    {%- do recorded.counts.update({name: found[name] | int}) -%}
  {%- endfor -%}
  {%- do return(recorded) -%}
{% endmacro %}


{# What identifies this apply in the ledger. #}
{% macro start_run(model, manifest, options) %}
  {%- set now = modules.datetime.datetime.now(modules.pytz.utc) -%}
  {%- do return({
      'model': model.name,
      'rebuild_command': versioned_collapsing.get_rebuild_command(model),
      'run_id': local_md5(invocation_id ~ model.unique_id ~ now),
      'started_at': now,
      'batches': [] if manifest.is_partial else manifest.batches,
      'has_manifest': manifest.exists,
      'manifest_counts': manifest.line_counts or {},
      'line_counts': {},
      'is_partial': manifest.is_partial,
      'is_stream': options.old_state == 'stream',
      'is_journal': false,
      'block': 0,
      'chunk': 1,
      'chunks': options.chunks,
      'lock': none,
      'truncated_at': none,
      'remembers_deletes': options.remember_deletes or false,
  }) -%}
{% endmacro %}


{# Appends a row to the ledger. A run on a part of the change set (--empty, --sample) applies no batch. #}
{% macro record_run(target, run, status, counts) %}
    {%- set line_counts = run.line_counts or {} -%}
    {%- set elapsed = modules.datetime.datetime.now(modules.pytz.utc) - run.started_at -%}
    {% call statement('record_run') -%}
      insert into {{ versioned_collapsing.get_ledger_relation(target) }}
        (model, target_uuid, invocation_id, run_id, status, at, batches, {{ (versioned_collapsing.get_line_count_names() + versioned_collapsing.get_count_names()) | join(', ') }}, milliseconds, publish, block, chunk, chunks, is_partial, truncated_at, source_uuid, definition)
      select
        {{ versioned_collapsing.quote_literal(run.model) }}, {{ versioned_collapsing.get_table_uuid_sql(target) }}, {{ versioned_collapsing.quote_literals([invocation_id, run.run_id]) }},
        {{ versioned_collapsing.quote_literal('partial' if run.is_partial and status == 'applied' else status) }}, now64(6, 'UTC'),
        {{ versioned_collapsing._get_batches_sql(run.batches) }},
        {% for name in versioned_collapsing.get_line_count_names() %}{{ 'null' if line_counts.get(name) is none else line_counts[name] | int }}, {% endfor %}
        {% for name in versioned_collapsing.get_count_names() %}{{ counts.get(name, 0) }}, {% endfor %}
        {{ (elapsed.total_seconds() * 1000) | int }},
        {{ versioned_collapsing.quote_literal('stream' if run.is_stream else 'journal' if run.is_journal else 'direct') }}, {{ run.block }}, {{ run.chunk }}, {{ run.chunks }}, {{ run.is_partial }},
        {{ 'toString(' ~ run.truncated_at ~ ')' if run.truncated_at else "''" }},
        {{ versioned_collapsing.get_table_uuid_sql(run.source) if run.source else "toUUID('00000000-0000-0000-0000-000000000000')" }},
        {{ versioned_collapsing.quote_literal((run.definition or '') ~ (' remembers_deletes' if run.remembers_deletes else '')) }}
      {{ versioned_collapsing.get_settings_sql() }}
    {%- endcall %}
{% endmacro %}


{# What the ledger says of the table that now has the target's name: whether it knows it, whether the table
   has a history (a whole change set applied, or adopted), the applied batches, the version at which it was
   truncated, and the run that began to write and did not end, or none. #}
{% macro read_ledger(target, model) %}
  {%- set query -%}
    select
      count() as known,
      countIf(status in ('applied', 'adopted', 'repaired')) as history,
      sumIf(deletes, status in ('applied', 'partial') and endsWith(definition, ' remembers_deletes')) as deletes,
      argMax(run_id, at) as last_run_id,
      argMax(status, at) as last_status,
      argMax(batches.batch, at) as last_batches,
      argMax(batches.hash, at) as last_hashes,
      argMax(publish, at) as last_publish,
      argMax(block, at) as last_block,
      argMax(chunk, at) as last_chunk,
      argMax(chunks, at) as last_chunks,
      argMax(is_partial, at) as last_is_partial,
      argMax(truncated_at, at) as last_truncated_at,
      argMax(definition, at) as last_definition,
      argMaxIf(truncated_at, at, truncated_at <> '' and status in ('applied', 'partial')) as truncate_version,
      groupUniqArrayArrayIf(batches.batch, status = 'applied') as applied
    from {{ versioned_collapsing.get_ledger_relation(target) }}
    where model = {{ versioned_collapsing.quote_literal(model.name) }} and target_uuid = {{ versioned_collapsing.get_table_uuid_sql(target) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set unfinished = none -%}
  {%- if found['last_status'] in ('started', 'block applied', 'chunk applied') -%}
    {%- set unfinished = {
        'model': model.name,
        'rebuild_command': versioned_collapsing.get_rebuild_command(model),
        'run_id': found['last_run_id'],
        'status': found['last_status'],
        'is_partial': found['last_is_partial'] | string | lower in ('true', '1'),
        'is_stream': found['last_publish'] == 'stream',
        'is_journal': found['last_publish'] == 'journal',
        'block': found['last_block'] | int,
        'definition': found['last_definition'],
        'chunk': found['last_chunk'] | int,
        'chunks': found['last_chunks'] | int,
        'truncated_at': found['last_truncated_at'],
        'batches': zip(versioned_collapsing.parse_array(found['last_batches']), versioned_collapsing.parse_array(found['last_hashes'])) | list,
        'has_manifest': false,
        'is_worth_recording': true,
    } -%}
  {%- endif -%}
  {%- do return({
      'is_known': found['known'] | int > 0,
      'has_history': found['history'] | int > 0 or (unfinished is not none and not unfinished.is_partial),
      'applied_batches': versioned_collapsing.parse_array(found['applied']),
      'truncated_at': found['truncate_version'],
      'deletes': found['deletes'] | int,
      'unfinished': unfinished,
  }) -%}
{% endmacro %}


{% macro _get_batches_sql(batches) %}
  {%- set tuples = [] -%}
  {%- for batch, hash in batches -%}
    {%- do tuples.append('(' ~ batch ~ ', ' ~ versioned_collapsing.quote_literal(hash) ~ ')') -%}
  {%- endfor -%}
  {%- do return("cast([" ~ tuples | join(', ') ~ "], 'Array(Tuple(batch UInt64, hash String))')") -%}
{% endmacro %}


{# For the `loaded_at_query` of a source: when a model's table was last brought up to date. #}
{% macro get_last_apply_sql(ledger, model_name) -%}
  select max(at) from {{ ledger }} where model = {{ versioned_collapsing.quote_literal(model_name) }} and status = 'applied'
{%- endmacro %}
