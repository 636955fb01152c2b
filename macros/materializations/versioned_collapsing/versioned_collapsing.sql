{% materialization versioned_collapsing, adapter='clickhouse' %}

  {%- set options = get_versioned_collapsing_options(config, model) -%}
  {%- set columns = get_versioned_collapsing_columns(options, sql, model) -%}
  {%- set manifest = read_change_set_manifest(model) -%}
  {%- set run = start_run(model, manifest, options) -%}
  {%- set existing = load_cached_relation(this) -%}
  {%- set is_rebuild = existing is none or should_full_refresh() -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% do create_ledger(this) %}
  {% do validate_rebuild(this, existing, is_rebuild) %}
  {% if not is_rebuild %}
    {% do validate_existing_table(existing, options) %}
  {% endif %}
  {% do acquire_lock(this, run) %}

  {% set target = get_table_to_apply_to(this, existing, is_rebuild) %}
  {% set ledger = read_ledger(target, model) %}
  {% do validate_history(this, existing, is_rebuild, model, manifest, ledger) %}
  {% if is_rebuild %}
    {% do create_versioned_collapsing_table(target, options, columns) %}
  {% else %}
    {% do create_tombstones(target, options, columns) %}
    {% do finish_unfinished_apply(target, options, run, ledger) %}
    {% do refuse_applied_batches(target, options, manifest, ledger) %}
    {% set columns = adapt_to_existing_columns(target, options, columns) %}
    {% do add_missing_projections(target) %}
  {% endif %}

  {% do read_truncate(options, columns, sql, ledger, run) %}
  {% if options.old_state == 'stream' %}
    {% set counts = apply_signed_rows(target, options, columns, sql, run) %}
  {% else %}
    {% set counts = apply_change_set(target, options, columns, sql, run) %}
  {% endif %}

  {% if target.identifier != this.identifier %}
    {% do create_tombstones(existing, options, columns) %}
    {% do exchange_versioned_collapsing_table(target, existing, options) %}
  {% endif %}
  {% do give_up_lock(run) %}
  {% do store_raw_result('main', message=get_apply_summary(counts, run), code='OK', rows_affected=counts.states + counts.cancels) %}

  {% do apply_grants(this, config.get('grants'), should_revoke=should_revoke(existing, full_refresh_mode=is_rebuild)) %}
  {% do persist_docs(this, model) %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [this.incorporate(type='table')]}) }}

{% endmaterialization %}
