{# The ledger: one row when an apply begins to write, one when it has ended. #}
{% macro get_ledger_relation(target) %}
  {%- do return(target.incorporate(path={'identifier': 'versioned_collapsing_ledger'}, type='table')) -%}
{% endmacro %}


{% macro create_ledger(target) %}
  {% call statement('create_ledger') -%}
    create table if not exists {{ get_ledger_relation(target) }} {{ on_cluster_clause(target) }} (
      model String comment 'Name of the model',
      target_uuid UUID comment 'UUID of the table that was applied to; a rebuilt table has another',
      invocation_id String comment 'dbt invocation',
      run_id String comment 'One apply of one model',
      status LowCardinality(String) comment 'started, applied, adopted, or partial (a run with --empty or --sample)',
      at DateTime64(6, 'UTC') comment 'When the row was written',
      batches Array(Tuple(batch UInt64, hash String)) comment 'Batches of the landing zone that the change set held',
      rows_read UInt64 comment 'Rows of the change set',
      keys UInt64 comment 'Keys of the change set',
      states UInt64 comment 'State rows written',
      cancels UInt64 comment 'Cancel rows written',
      deletes UInt64 comment 'Deletes applied',
      duplicates UInt64 comment 'Changes that repeat a change',
      stale UInt64 comment 'Changes below the version of the live row',
      conflicts UInt64 comment 'Changes at the version of the live row with another payload',
      tombstoned UInt64 comment 'Changes at or below the version at which their key was deleted',
      repaired UInt64 comment 'Keys whose rows were healed',
      milliseconds UInt64 comment 'From the start of the model to this row'
    )
    engine = MergeTree
    order by (model, at)
  {%- endcall %}
{% endmacro %}


{# What identifies this apply in the ledger. #}
{% macro start_run(model, manifest) %}
  {%- set now = modules.datetime.datetime.now(modules.pytz.utc) -%}
  {%- do return({
      'model': model.name,
      'run_id': local_md5(invocation_id ~ model.unique_id ~ now),
      'started_at': now,
      'batches': [] if manifest.is_partial else manifest.batches,
      'has_manifest': manifest.exists,
      'is_partial': manifest.is_partial,
  }) -%}
{% endmacro %}


{# Appends a row to the ledger. A run on a part of the change set (--empty, --sample) applies no batch. #}
{% macro record_run(target, run, status, counts) %}
    {%- set names = ['rows_read', 'keys', 'states', 'cancels', 'deletes', 'duplicates', 'stale', 'conflicts', 'tombstoned', 'repaired'] -%}
    {%- set elapsed = modules.datetime.datetime.now(modules.pytz.utc) - run.started_at -%}
    {% call statement('record_run') -%}
      insert into {{ get_ledger_relation(target) }}
        (model, target_uuid, invocation_id, run_id, status, at, batches, {{ names | join(', ') }}, milliseconds)
      select
        '{{ run.model }}', {{ _get_target_uuid_sql(target) }}, '{{ invocation_id }}', '{{ run.run_id }}', '{{ 'partial' if run.is_partial else status }}', now64(6, 'UTC'),
        {{ _get_batches_sql(run.batches) }},
        {% for name in names %}{{ counts.get(name, 0) }}, {% endfor %}
        {{ (elapsed.total_seconds() * 1000) | int }}
      settings {{ _no_deduplication() }}
    {%- endcall %}
{% endmacro %}


{# The last run on the target that began to write and did not end, or none. #}
{% macro get_unfinished_run(target, run) %}
  {%- set query -%}
    select run_id, argMax(status, at) as last_status, argMax(batches.batch, at) as batches, argMax(batches.hash, at) as hashes
    from {{ get_ledger_relation(target) }}
    where model = '{{ run.model }}' and target_uuid = {{ _get_target_uuid_sql(target) }}
    group by run_id
    order by max(at) desc
    limit 1
  {%- endset -%}
  {%- set last = run_query(query).rows -%}
  {%- if last and last[0]['last_status'] == 'started' -%}
    {%- set unfinished = run.copy() -%}
    {%- do unfinished.update({
        'run_id': last[0]['run_id'],
        'is_partial': false,
        'batches': zip(_parsed(last[0]['batches']), _parsed(last[0]['hashes'])) | list,
    }) -%}
    {%- do return(unfinished) -%}
  {%- endif -%}
  {%- do return(none) -%}
{% endmacro %}


{# What the ledger says of the table that now has the target's name: whether it `knows` it, and whether the
   table has a `history`, a whole change set applied or adopted. #}
{% macro read_history(target, model) %}
  {%- set query -%}
    select count() as known, countIf(status <> 'partial') as history
    from {{ get_ledger_relation(target) }}
    where model = '{{ model.name }}' and target_uuid = {{ _get_target_uuid_sql(target) }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- do return({'is_known': found['known'] | int > 0, 'has_history': found['history'] | int > 0}) -%}
{% endmacro %}


{% macro _get_target_uuid_sql(target) %}
  {%- do return(
      "(select uuid from system.tables where database = '" ~ target.schema ~ "' and name = '" ~ target.identifier ~ "')"
  ) -%}
{% endmacro %}


{% macro _get_batches_sql(batches) %}
  {%- set tuples = [] -%}
  {%- for batch, hash in batches -%}
    {%- do tuples.append('(' ~ batch ~ ", '" ~ hash ~ "')") -%}
  {%- endfor -%}
  {%- do return("cast([" ~ tuples | join(', ') ~ "], 'Array(Tuple(batch UInt64, hash String))')") -%}
{% endmacro %}


{# Array columns reach macros as lists or, by way of agate, as their text. #}
{% macro _parsed(value) %}
  {%- do return(fromyaml(value) if value is string else value) -%}
{% endmacro %}
