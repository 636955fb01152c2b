{# What every step knows about an apply. Steps do not change it; if one learns more, it makes a copy.

   - is_resumed: whether another run began the apply
   - is_first: whether it is the first apply to a table that was built for it
   - has_retaken: whether it takes batches again that are applied
   - lock: none if the engine runs in dbt's own process
   - staged: the staged tables that an earlier apply has left
   - number: the number of the apply; 0 until the ledger is read
   - feed: the change feed, or none; feed_relation: where one is or would be #}
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
      'landed_at': [] if manifest.is_partial else manifest.landed_at or [],
      'taken_at': manifest.taken_at or none,
      'change_set': manifest.id or '',
      'watermarks': [],
      'has_manifest': manifest.exists or false,
      'manifest_counts': manifest.line_counts or {},
      'is_partial': manifest.is_partial or false,
      'is_stream': options.old_state == 'stream',
      'is_resumed': false,
      'is_first': false,
      'has_retaken': false,
      'chunks': options.chunks or 1,
      'remembers_deletes': options.remember_deletes or false,
      'staged': {},
      'number': 0,
      'feed_relation': versioned_collapsing.get_changes_relation(locked_relation),
      'feed': versioned_collapsing.get_change_feed(locked_relation, options, model) if options else none,
  }) -%}
{% endmacro %}


{# The apply that another run began. Names and batches come from the ledger; the lock and the start time come from the
   run that completes it. #}
{% macro resume_apply(apply, unfinished) %}
  {%- do return(dict(
      apply,
      model=unfinished.model,
      rebuild_command=unfinished.rebuild_command,
      run_id=unfinished.run_id,
      batches=unfinished.batches,
      landed_at=unfinished.landed_at,
      taken_at=unfinished.taken_at,
      change_set=unfinished.change_set,
      watermarks=unfinished.watermarks,
      has_manifest=false,
      manifest_counts={},
      is_partial=unfinished.is_partial,
      is_stream=unfinished.is_stream,
      is_resumed=true,
      chunks=unfinished.chunks,
      remembers_deletes=unfinished.remembers_deletes,
      number=unfinished.number or apply.number
  )) -%}
{% endmacro %}


{# The first apply to a table. Views are filled from the table itself, so a feed that exists only for views gets no rows
   of it. #}
{% macro get_first_apply(apply) %}
  {%- do return(dict(apply, is_first=true, feed=apply.feed if apply.feed and apply.feed.is_history else none)) -%}
{% endmacro %}


{# The apply without its batches, for a change set that this table has applied before. #}
{% macro get_apply_of_nothing(apply) %}
  {%- do return(dict(apply, batches=[], landed_at=[], manifest_counts={})) -%}
{% endmacro %}
