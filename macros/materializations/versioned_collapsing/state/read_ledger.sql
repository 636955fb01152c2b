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
    where model = {{ versioned_collapsing.quote_literal(model.name) }}
        and target_uuid = {{ versioned_collapsing.get_table_uuid_sql(target) }}
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
        'batches': zip(versioned_collapsing.parse_array(found['last_batches']),
        versioned_collapsing.parse_array(found['last_hashes'])) | list,
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
