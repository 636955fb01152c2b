{% materialization change_set, adapter='spark', supported_languages=['sql', 'python'] %}

  {%- do versioned_collapsing.validate_location(model) -%}
  {%- do versioned_collapsing.validate_change_set_options(model) -%}
  {%- set compares_extracts = versioned_collapsing.get_option(config, 'compares_extracts', false) -%}
  {%- set lake = versioned_collapsing.get_lake(model) -%}
  {%- set landed = versioned_collapsing.read_lake_commits(model, lake) if lake
      else versioned_collapsing.read_landed_batches(model) -%}
  {%- do versioned_collapsing.validate_batch_variables(model, landed) -%}
  {%- set found = versioned_collapsing.read_applied_batches(model) -%}
  {%- set applied = {} if should_full_refresh() else found.by_all -%}
  {%- if lake -%}
    {%- do versioned_collapsing.validate_lake_history(model, lake, landed, applied) -%}
    {%- set landed = versioned_collapsing.get_commits_not_renumbered(landed, applied) -%}
  {%- endif -%}
  {# A rebuild of a lake's table begins with the table as it is. The newest extract holds all rows: a rebuild needs no
     earlier one. #}
  {%- set missing = [] if lake else versioned_collapsing.get_missing_batches(landed, found.by_any) -%}
  {%- if not applied and not compares_extracts -%}
    {%- do versioned_collapsing.validate_missing_batches(model, missing) -%}
  {%- endif -%}
  {%- set changed = versioned_collapsing.get_changed_batches(landed, applied) -%}
  {%- do versioned_collapsing.validate_changed_batches(
      model, changed, versioned_collapsing.get_option(config, 'on_changed_batch', 'error')
  ) -%}
  {%- set pending = versioned_collapsing.get_pending_batches(landed, applied, changed) -%}
  {%- set is_complete = versioned_collapsing.get_is_complete(landed, pending, missing, applied if lake else {}) -%}
  {%- if compares_extracts -%}
    {%- do versioned_collapsing.validate_stored_extracts(
        model, versioned_collapsing.read_stored_extracts(model), landed, pending
    ) -%}
  {%- endif -%}

  {%- set target = this.incorporate(type='table') -%}
  {%- set manifest = versioned_collapsing.get_change_set_manifest_relation(this) -%}
  {%- set definition = versioned_collapsing.get_change_set_definition(model, compiled_code) -%}

  {{ run_hooks(pre_hooks) }}

  {% if not pending and not should_full_refresh() and not versioned_collapsing.is_partial_run()
      and versioned_collapsing.read_is_unchanged(model, manifest, found.change_sets, definition, is_complete) %}
    {% do versioned_collapsing.store_response(
        versioned_collapsing.get_pending_summary(model, landed, pending, {}), none,
        versioned_collapsing.get_pending_facts(pending, {})
    ) %}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': []}) }}
  {% endif %}

  {% set existing = adapter.get_relation(database=database, schema=schema, identifier=model['alias']) %}
  {% set inputs = [] if lake else versioned_collapsing.read_inputs(model, pending, compiled_code) %}
  {% do versioned_collapsing.validate_whole_views(model, landed, pending) %}
  {% set kept = versioned_collapsing.read_kept_manifest(
      manifest, config.get('file_format', 'parquet'), is_one_row_enough=true
  ) if versioned_collapsing.is_manifest_needed(inputs) else [] %}
  {% do versioned_collapsing.add_seen(kept, inputs) %}

  {# In this order, there is never a change set with rows beside the manifest or the parsed lines of another build. The
     manifest stays until a new one can be written, and with it what the change set has seen: a run that stops before
     forgets nothing. A table that will have the same columns is only emptied. Iceberg deletes no files unless it is
     told to purge them. #}
  {% if existing is not none and not existing.is_table %}
    {% do adapter.drop_relation(existing) %}
  {% endif %}
  {% set emptied = [] %}
  {% for table in [target] + versioned_collapsing.get_own_parsed_lines(inputs)
      if adapter.get_relation(table.database, table.schema, table.identifier) is not none %}
    {% if versioned_collapsing.can_stay(model, table, kept, definition)
        and adapter.empty_table(table.schema, table.identifier) %}
      {% do emptied.append(table.identifier) %}
    {% else %}
      {% call statement('drop') -%}
        drop table if exists {{ table }} purge
      {%- endcall %}
    {% endif %}
  {% endfor %}
  {% for input in inputs if input.is_parsed_here %}
    {% do versioned_collapsing.parse_lines(model, input, pending, emptied) %}
  {% endfor %}
  {% if lake %}
    {% do versioned_collapsing.create_lake_feed(model, lake, landed, pending, is_snapshot=not applied) %}
  {% endif %}
  {% if inputs | selectattr('is_parsed_here') | list %}
    {% do versioned_collapsing.validate_steady_batches(model, landed, pending) %}
  {% endif %}
  {% set counts = versioned_collapsing.read_counts(model, inputs, pending, not found.by_any) %}
  {% do versioned_collapsing.validate_no_stray_events(model, inputs) %}
  {% set created = versioned_collapsing.write_manifest(
      manifest,
      versioned_collapsing.get_manifest(
          landed, pending, is_complete, counts, local_md5(invocation_id ~ model.unique_id), definition,
          versioned_collapsing.get_own_parsed_lines(inputs), versioned_collapsing.get_seen(inputs)
      ),
      config.get('file_format', 'parquet')
  ) %}
  {% set code = versioned_collapsing.get_change_set_code(
      compiled_code, model.language, inputs, pending, versioned_collapsing.read_snapshots(model, inputs, compiled_code)
  ) %}
  {% if versioned_collapsing.refill(target, emptied, code) is none %}
    {% call statement('main', language=model.language) -%}
      {{ create_table_as(False, target, code, model.language) }}
    {%- endcall %}
  {% endif %}
  {% if inputs | rejectattr('parsed') | list %}
    {% do versioned_collapsing.validate_steady_batches(model, landed, pending) %}
  {% endif %}
  {% do versioned_collapsing.store_response(
      versioned_collapsing.get_pending_summary(model, landed, pending, counts), none,
      versioned_collapsing.get_pending_facts(pending, counts)
  ) %}

  {% do apply_grants(target, config.get('grants'), should_revoke=should_revoke(existing, full_refresh_mode=True)) %}
  {% do persist_docs(target, model) %}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target] + created}) }}

{% endmaterialization %}
