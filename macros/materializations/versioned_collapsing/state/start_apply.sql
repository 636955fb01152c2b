{# What every step of an apply knows of it; nothing of it changes. `is_resumed`: whether another run began it. `lock`:
   none where dbt's own process has the engine. `staged`: the staged tables that an earlier apply has left. #}
{% macro start_apply(model, locked_relation, manifest={}, options={}) %}
  {%- set now = modules.datetime.datetime.now(modules.pytz.utc) -%}
  {%- set run_id = local_md5(invocation_id ~ model.unique_id ~ now) -%}
  {%- set lock = versioned_collapsing.get_helper_relation(locked_relation, 'lock') -%}
  {%- do return({
      'model': model.name,
      'rebuild_command': versioned_collapsing.get_rebuild_command(model),
      'run_id': run_id,
      'started_at': now,
      'lock': none if versioned_collapsing.is_embedded() else {'relation': lock, 'run_id': run_id},
      'batches': [] if manifest.is_partial else manifest.batches or [],
      'has_manifest': manifest.exists or false,
      'manifest_counts': manifest.line_counts or {},
      'is_partial': manifest.is_partial or false,
      'is_stream': options.old_state == 'stream',
      'is_resumed': false,
      'chunks': options.chunks or 1,
      'remembers_deletes': options.remember_deletes or false,
      'staged': {},
  }) -%}
{% endmacro %}


{# The apply that another run began. Its names come from the ledger, the lock and the start from the run that
   completes it. #}
{% macro resume_apply(apply, unfinished) %}
  {%- do return(dict(
      apply,
      model=unfinished.model,
      rebuild_command=unfinished.rebuild_command,
      run_id=unfinished.run_id,
      batches=unfinished.batches,
      has_manifest=false,
      manifest_counts={},
      is_partial=unfinished.is_partial,
      is_stream=unfinished.is_stream,
      is_resumed=true,
      chunks=unfinished.chunks,
      remembers_deletes=unfinished.remembers_deletes
  )) -%}
{% endmacro %}
