{% materialization versioned_collapsing, adapter='clickhouse' %}

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
  {%- do versioned_collapsing.allow_wide_statements(columns) -%}
  {%- set manifest = versioned_collapsing.read_change_set_manifest(model) -%}
  {%- set run = versioned_collapsing.start_run(model, manifest, options) -%}
  {%- set existing = load_cached_relation(this) -%}
  {%- set is_rebuild = existing is none or should_full_refresh() -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% do versioned_collapsing.validate_server() %}
  {% do versioned_collapsing.validate_name_length(this) %}
  {% do versioned_collapsing.warn_of_is_incremental(model) %}
  {% do versioned_collapsing.create_ledger(this) %}
  {% do versioned_collapsing.validate_rebuild(this, existing, is_rebuild) %}
  {% if not is_rebuild %}
    {% do versioned_collapsing.validate_existing_table(existing, options, columns) %}
    {% do versioned_collapsing.validate_schema_change(existing, options, columns) %}
  {% endif %}
  {% do versioned_collapsing.acquire_lock(this, run, model.name) %}
  {% do versioned_collapsing.validate_same_place(this, existing, run) %}
  {% if existing is not none %}
    {% do versioned_collapsing.bind_tombstones(
        existing, versioned_collapsing.get_helper_relation(this, 'build'), run, model
    ) %}
    {% set ledger = versioned_collapsing.read_ledger(existing, model) %}
    {% do versioned_collapsing.validate_no_rows_are_lost(existing, is_rebuild, model, manifest, ledger, run) %}
  {% endif %}
  {% do versioned_collapsing.drop_leftover_build(versioned_collapsing.get_helper_relation(this, 'build')) %}

  {% set target = versioned_collapsing.get_table_to_apply_to(this, existing, is_rebuild) %}
  {% set ledger = versioned_collapsing.read_ledger(target, model) %}
  {% do versioned_collapsing.validate_history(this, existing, is_rebuild, model, manifest, ledger, run) %}
  {% if is_rebuild %}
    {% do versioned_collapsing.create_versioned_collapsing_table(target, options, columns) %}
  {% else %}
    {% do versioned_collapsing.validate_tombstones_are_there(target, options, ledger, run, model) %}
    {% do versioned_collapsing.create_tombstones(target, options, columns) %}
    {% if ledger.unfinished %}
      {% do versioned_collapsing.complete_apply(target, options, ledger.unfinished, run) %}
      {% set ledger = versioned_collapsing.read_ledger(target, model) %}
    {% endif %}
    {% do versioned_collapsing.validate_batches_are_new(target, options, manifest, ledger, run) %}
    {% set columns = versioned_collapsing.adapt_to_existing_columns(target, options, columns) %}
    {% do versioned_collapsing.add_missing_projections(target, run) %}
  {% endif %}

  {% do versioned_collapsing.read_truncate(options, columns, sql, ledger, run) %}
  {% if options.old_state == 'stream' %}
    {% set counts = versioned_collapsing.apply_signed_rows(target, options, columns, sql, run) %}
  {% else %}
    {% set counts = versioned_collapsing.apply_change_set(target, options, columns, sql, run) %}
  {% endif %}

  {% if target.identifier != this.identifier %}
    {% do versioned_collapsing.create_tombstones(existing, options, columns) %}
    {% do versioned_collapsing.exchange_versioned_collapsing_table(target, existing, options) %}
  {% endif %}
  {% do versioned_collapsing.give_up_lock(run) %}
  {% do store_raw_result(
      'main', message=versioned_collapsing.get_apply_summary(counts, run), code='OK',
      rows_affected=counts.states + counts.cancels
  ) %}

  {% do apply_grants(this, config.get('grants'), should_revoke=should_revoke(existing, full_refresh_mode=is_rebuild)) %}
  {% do persist_docs(this, model) %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [this.incorporate(type='table')]}) }}

{% endmaterialization %}
