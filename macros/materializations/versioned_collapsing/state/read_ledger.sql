{# What the ledger says about the table that now has the target's name.

   - is_known: whether it has a row about the table; has_applies: whether it has a numbered apply to it
   - has_history: whether a whole change set was applied or begun, or the table was adopted or repaired
   - applied_batches, applied_change_set: the batches and the last change set that were applied
   - truncated_at: the version at which the table was truncated; deletes: how many deletes were remembered
   - number: that of the last apply to the table, or by the model to an earlier table with the same name
   - unfinished: the run that began to write and did not end, or none #}
{% macro read_ledger(target_relation, model) %}
  {%- set last = {
      'last_run_id': 'run_id', 'last_status': 'status', 'last_batches': 'batches.batch', 'last_hashes': 'batches.hash',
      'last_publish': 'publish', 'last_block': 'block', 'last_chunk': 'chunk', 'last_chunks': 'chunks',
      'last_is_partial': 'is_partial', 'last_truncated_at': 'truncated_at', 'last_definition': 'definition',
      'last_apply': 'apply', 'last_change_set': 'change_set',
      'last_landed_at': 'arrayMap(time -> toUnixTimestamp64Micro(time), landed_at)',
      'last_taken_at': 'toUnixTimestamp64Micro(taken_at)', 'last_landings': 'watermarks.landing',
      'last_landing_uuids': 'arrayMap(uuid -> toString(uuid), watermarks.uuid)',
      'last_watermarks': 'watermarks.watermark',
  } -%}
  {%- set ledger = versioned_collapsing.get_ledger_relation(target_relation) -%}
  {%- set name = versioned_collapsing.quote_literal(model.name) -%}
  {%- set uuid = versioned_collapsing.get_table_uuid_sql(target_relation) -%}
  {%- set query -%}
    select
      count() as known,
      countIf(apply > 0) as numbered,
      countIf(status in ('applied', 'adopted', 'repaired')) as history,
      sumIf(deletes, status in ('applied', 'partial') and endsWith(definition, ' remembers_deletes')) as deletes,
      {%- for name, column in last.items() %}
      argMax({{ column }}, at) as {{ name }},
      {%- endfor %}
      max(at) not between now64(6, 'UTC') - toIntervalSecond(uptime()) and now64(6, 'UTC') as is_restarted,
      argMaxIf(truncated_at, at, truncated_at <> '' and status in ('applied', 'partial')) as truncate_version,
      groupUniqArrayArrayIf(batches.batch, status = 'applied') as applied,
      argMaxIf(change_set, at, status = 'applied') as applied_change_set,
      (select max(apply) from {{ ledger }} where model = {{ name }} or target_uuid = {{ uuid }}) as number
    from {{ ledger }}
    where model = {{ name }}
      and target_uuid = {{ uuid }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set unfinished = versioned_collapsing._get_unfinished_apply(found, model) -%}
  {%- do return({
      'is_known': found['known'] | int > 0,
      'has_applies': found['numbered'] | int > 0,
      'has_history': found['history'] | int > 0 or (unfinished is not none and not unfinished.is_partial),
      'applied_batches': versioned_collapsing.parse_array(found['applied']),
      'applied_change_set': found['applied_change_set'],
      'truncated_at': found['truncate_version'],
      'deletes': found['deletes'] | int,
      'number': found['number'] | int,
      'unfinished': unfinished,
  }) -%}
{% endmacro %}


{# The run that wrote the last row, if it began to write and did not end. #}
{% macro _get_unfinished_apply(found, model) %}
  {%- if found['last_status'] not in ('chunk staged', 'started', 'block applied') -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set words = found['last_definition'].split(' ') -%}
  {%- set batches = versioned_collapsing.parse_array(found['last_batches']) -%}
  {%- do return({
      'model': model.name,
      'rebuild_command': versioned_collapsing.get_rebuild_command(model),
      'run_id': found['last_run_id'],
      'status': found['last_status'],
      'is_partial': found['last_is_partial'] | string | lower in ('true', '1'),
      'is_restarted': found['is_restarted'] | string | lower in ('true', '1'),
      'is_stream': found['last_publish'] == 'stream',
      'is_journal': found['last_publish'] == 'journal',
      'block': found['last_block'] | int,
      'definition': words | reject('equalto', 'remembers_deletes') | join(' '),
      'remembers_deletes': 'remembers_deletes' in words,
      'number': found['last_apply'] | int,
      'chunk': found['last_chunk'] | int,
      'chunks': found['last_chunks'] | int,
      'truncated_at': found['last_truncated_at'],
      'change_set': found['last_change_set'],
      'landed_at': versioned_collapsing.parse_array(found['last_landed_at']),
      'taken_at': found['last_taken_at'],
      'watermarks': zip(
          versioned_collapsing.parse_array(found['last_landings']),
          versioned_collapsing.parse_array(found['last_landing_uuids']),
          versioned_collapsing.parse_array(found['last_watermarks'])
      ) | list,
      'batches': zip(batches, versioned_collapsing.parse_array(found['last_hashes'])) | list,
  }) -%}
{% endmacro %}
