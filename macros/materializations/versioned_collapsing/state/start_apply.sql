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
