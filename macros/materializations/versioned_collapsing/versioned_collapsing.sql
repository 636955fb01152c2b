{% materialization versioned_collapsing, adapter='clickhouse' %}

  {#- Validate the options and columns. -#}
  {%- set profile = versioned_collapsing.read_profile_settings() -%}
  {%- do versioned_collapsing.validate_settings(model.unique_id, profile) -%}
  {%- set sql = versioned_collapsing.get_select_in_profile_sql(sql, profile) -%}
  {%- set options = versioned_collapsing.get_versioned_collapsing_options(config, model) -%}
  {%- do versioned_collapsing.validate_versioned_collapsing_options(model, options) -%}
  {%- set given = versioned_collapsing.read_query_columns(sql) -%}
  {%- set declared = versioned_collapsing.read_declared_types(model) -%}
  {%- do versioned_collapsing.validate_given_columns(model, options, given, declared) -%}
  {%- set columns = versioned_collapsing.get_versioned_collapsing_columns(options, given, declared) -%}
  {%- do versioned_collapsing.validate_column_types(model, options, columns) -%}
  {%- do versioned_collapsing.validate_change_sets(model) -%}
  {%- set manifest = versioned_collapsing.read_change_set_manifest(model) -%}
  {%- do versioned_collapsing.allow_wide_statements(manifest.batches, columns.table) -%}
  {%- set apply = versioned_collapsing.get_apply(model, this, manifest, options) -%}
  {%- set existing_relation = load_cached_relation(this) -%}
  {%- set is_rebuild = existing_relation is none or should_full_refresh() -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {#- Validate the server and the existing table. -#}
  {% set server = versioned_collapsing.read_server(this, options, columns, is_rebuild) %}
  {% do versioned_collapsing.validate_server(server) %}
  {% do versioned_collapsing.validate_cluster(this, server, options, model) %}
  {% do versioned_collapsing.validate_name_length(this, server) %}
  {% do versioned_collapsing.warn_of_is_incremental(model) %}
  {% do versioned_collapsing.prepare_ledger(this, server.tables.staged) %}
  {% do versioned_collapsing.validate_rebuild(this, existing_relation, is_rebuild, model) %}
  {% set stored = {} if is_rebuild else server.stored %}
  {% set is_unused = false %}
  {% if not is_rebuild %}
    {% set problems = versioned_collapsing.get_existing_table_problems(
        existing_relation, server.tables, server.formatted, stored, options, columns, model
    ) %}
    {% set is_unused = problems != []
        and versioned_collapsing.read_is_unused_table(existing_relation, server.tables, model) %}
    {% set is_rebuild = is_unused %}
    {% do versioned_collapsing.validate_existing_table(existing_relation, [] if is_unused else problems) %}
  {% endif %}

  {#- Take the lock, and read again which tables exist. -#}
  {% set found = versioned_collapsing.acquire_lock(this, apply) or versioned_collapsing.read_tables_beside(this) %}
  {% set tables = versioned_collapsing.get_tables_of(this, found) %}
  {% do versioned_collapsing.validate_same_place(this, existing_relation, tables.target, apply) %}
  {% if existing_relation is not none and not versioned_collapsing.has_own_tombstones(tables) %}
    {% do versioned_collapsing.bind_tombstones(existing_relation, tables, apply, model) %}
    {% set tables = versioned_collapsing.read_tables_of(this) %}
  {% endif %}
  {% set ledger = versioned_collapsing.read_ledger(this, model) if is_rebuild
      else versioned_collapsing.read_restored_ledger(this, options, model, apply) %}
  {% set apply = dict(apply, number=ledger.number + 1) %}
  {% if is_unused %}
    {% do versioned_collapsing.validate_is_unused(existing_relation, ledger, apply) %}
    {% set existing_relation = none %}
  {% endif %}
  {% do versioned_collapsing.validate_no_rows_are_lost(existing_relation, is_rebuild, model, manifest, ledger, apply) %}
  {% do versioned_collapsing.keep_lock(apply) %}
  {% if is_rebuild and tables.leftover %}
    {% do versioned_collapsing.drop_unpublished_from_feed(this, apply) %}
  {% endif %}
  {% do versioned_collapsing.drop_leftover_build(this, tables) %}
  {% do versioned_collapsing.validate_history(this, existing_relation, is_rebuild, model, manifest, ledger, apply) %}

  {#- Create the table, or recover the existing one. -#}
  {% set target_relation = versioned_collapsing.get_table_to_apply_to(this, existing_relation, is_rebuild) %}
  {% do versioned_collapsing.keep_lock(apply) %}
  {% set is_altered = is_rebuild or ledger.unfinished or tables.tombstones is none or options.projections %}
  {% if is_rebuild %}
    {% do versioned_collapsing.create_versioned_collapsing_table(target_relation, options, columns) %}
    {% set ledger = versioned_collapsing.read_ledger(target_relation, model) %}
    {% set apply = versioned_collapsing.get_first_apply(apply) %}
  {% else %}
    {% do versioned_collapsing.validate_tombstones_are_there(this, tables, options, ledger, apply, model) %}
    {% do versioned_collapsing.prepare_tombstones(target_relation, options, columns, tables.tombstones) %}
    {% if ledger.unfinished %}
      {% do versioned_collapsing.recover_apply(target_relation, options, ledger.unfinished, apply) %}
      {% set ledger = versioned_collapsing.read_ledger(target_relation, model) %}
      {% set apply = dict(apply, number=ledger.number + 1) %}
    {% endif %}
    {% if apply.change_set and apply.change_set == ledger.applied_change_set %}
      {% set apply = versioned_collapsing.get_apply_of_nothing(apply) %}
      {% set manifest = dict(manifest, batches=[]) %}
      {% set sql = versioned_collapsing.read_sql_of_others(model, options, sql) %}
    {% endif %}
    {% do versioned_collapsing.validate_batches_are_new(target_relation, options, manifest, ledger, apply) %}
    {% set reprocessed = manifest.batches | map(attribute=0) | select('in', ledger.applied_batches) | list %}
    {% set apply = dict(apply, has_reprocessed=reprocessed != []) %}
    {% set columns = versioned_collapsing.get_aligned_columns(stored, options, columns) %}
    {% set is_altered = is_altered or columns.names | reject('in', stored) | list != [] %}
    {% do versioned_collapsing.keep_lock(apply) %}
    {% do versioned_collapsing.add_new_columns(target_relation, stored, columns, apply) %}
    {% do versioned_collapsing.add_missing_projections(target_relation, options, apply) %}
  {% endif %}

  {#- Stage, decide, publish and record. -#}
  {% set apply = dict(
      apply, staged=versioned_collapsing.read_tables_beside(target_relation) if is_altered else tables.staged
  ) %}
  {% set counts = versioned_collapsing.get_initial_counts({}) if sql is none else versioned_collapsing.apply_select(
      target_relation, options, columns, given, sql, manifest, ledger, apply
  ) %}

  {#- Put a rebuilt table in its place. -#}
  {% if target_relation.identifier != this.identifier %}
    {% do versioned_collapsing.keep_lock(apply) %}
    {% do versioned_collapsing.prepare_tombstones(existing_relation, options, columns, tables.tombstones) %}
    {% do versioned_collapsing.exchange_tables(target_relation, existing_relation, options) %}
    {% do versioned_collapsing.drop_staged(target_relation) %}
  {% endif %}
  {% do versioned_collapsing.end_run(this, apply) %}
  {% do versioned_collapsing.store_response(
      versioned_collapsing.get_apply_summary(counts, apply), counts.states + counts.cancels,
      versioned_collapsing.get_response_facts(counts, apply)
  ) %}

  {% set should_revoke_grants = should_revoke(existing_relation, full_refresh_mode=is_rebuild) %}
  {% do apply_grants(this, config.get('grants'), should_revoke=should_revoke_grants) %}
  {% do persist_docs(this, model) %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [this.incorporate(type='table')]}) }}

{% endmaterialization %}

{# dbt's is_incremental() is true only for the materialization `incremental`. In this one, the code that depends on it
   never runs. #}
{% macro warn_of_is_incremental(model) %}
  {%- if modules.re.search('\\bis_incremental\\(', model.raw_code) -%}
    {%- do exceptions.warn(
        model.unique_id ~ " calls is_incremental(), which is always false in a versioned_collapsing model. Each run "
        ~ "therefore reads and compares everything that the model selects. To read less in later runs, use "
        ~ "{% if load_relation(this) and not should_full_refresh() %} instead."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Applies what the model selects. Returns the counts. #}
{% macro apply_select(target_relation, options, columns, given, sql, manifest, ledger, apply) %}
  {%- set landed = versioned_collapsing.stage_landed_rows(target_relation, options, given, sql, manifest, apply) -%}
  {%- set apply = dict(apply, watermarks=landed.watermarks) -%}
  {%- set remembered = versioned_collapsing.read_remembered_rows(
      target_relation, versioned_collapsing.get_source_key(model), columns, landed.sql, apply
  ) -%}
  {%- set apply = dict(apply, forgotten=remembered.forgotten) -%}
  {%- set truncate = versioned_collapsing.read_truncate(options, columns, remembered.sql, ledger, apply) -%}
  {%- set counts = versioned_collapsing.apply_signed_rows(
      target_relation, options, columns, remembered.sql, truncate, apply
  ) if options.old_state == 'stream' else versioned_collapsing.apply_change_set(
      target_relation, options, columns, remembered.sql, truncate, apply
  ) -%}
  {%- do versioned_collapsing.empty_staged(target_relation, landed.roles) -%}
  {%- do return(counts) -%}
{% endmacro %}

{# Stages the change set, decides which rows it requires, publishes them and records the apply. Returns the counts. #}
{% macro apply_change_set(target_relation, options, columns, sql, truncate, apply) %}
  {%- set progress = dict(versioned_collapsing.get_initial_progress(), truncated_at=truncate.at) -%}
  {%- set staged = versioned_collapsing.stage_change_set(target_relation, options, columns, sql, truncate, apply) -%}
  {%- if not staged.carried.rows_read -%}
    {%- do return(versioned_collapsing.record_empty_change_set(
        target_relation, columns, staged.carried, progress, apply
    )) -%}
  {%- endif -%}
  {%- set read = versioned_collapsing.read_change_set_counts(options, columns, sql, truncate, staged, apply) -%}
  {%- if apply.is_first and read.counts.conflicts > staged.key_count -%}
    {%- do versioned_collapsing.drop_staged(target_relation) -%}
  {%- endif -%}
  {%- do versioned_collapsing.validate_key_and_version(
      target_relation, options, dict(read.counts, keys=staged.key_count), apply
  ) -%}
  {%- do return(versioned_collapsing.apply_staged_changes(target_relation, options, columns, dict(
      progress, counts=read.counts, line_counts=read.line_counts, change_count=staged.row_count
  ), apply)) -%}
{% endmacro %}

{# Decides which rows the staged changes require, publishes them and records the apply. Returns the counts. #}
{% macro apply_staged_changes(target_relation, options, columns, progress, apply) %}
  {%- do versioned_collapsing.prepare_output(target_relation, options, columns, progress, apply) -%}
  {%- set counts = versioned_collapsing.decide_chunks(target_relation, options, columns, progress, apply) -%}
  {%- do versioned_collapsing.publish_and_record(
      target_relation, options, columns, dict(progress, chunk=options.chunks, counts=counts, decided=counts), apply
  ) -%}
  {%- do versioned_collapsing.release_staged(target_relation, options, columns, counts) -%}
  {%- do return(counts) -%}
{% endmacro %}

{# The line that dbt prints for the model. #}
{% macro get_apply_summary(counts, apply) %}
  {%- set batches = apply.batches | map(attribute=0) | list -%}
  {%- set what = 'batch ' ~ batches[0] if batches | length == 1
      else 'batches ' ~ batches | min ~ '-' ~ batches | max if batches
      else 'no new batches' if apply.has_manifest else versioned_collapsing.format_count(counts.rows_read, 'row') -%}
  {%- do return(what ~ ': ' ~ (versioned_collapsing.get_counts_text(counts) or 'nothing to change')) -%}
{% endmacro %}

{# What an apply has done, without the counts that are 0. #}
{% macro get_counts_text(counts) %}
  {%- set parts = [] -%}
  {%- set unsaid = ('rows_read', 'keys', 'synthetic', 'truncates') -%}
  {%- for name in versioned_collapsing.get_count_names() if name not in unsaid and counts[name] -%}
    {%- do parts.append(
        versioned_collapsing.format_count(counts[name], name[:-1]) if name.endswith('s') else counts[name] ~ ' ' ~ name
    ) -%}
  {%- endfor -%}
  {%- do return(parts | join(', ')) -%}
{% endmacro %}
