{% materialization versioned_collapsing, adapter='clickhouse' %}

  {%- set options = get_versioned_collapsing_options(config, model) -%}
  {%- set columns = get_versioned_collapsing_columns(options, sql, model) -%}
  {%- set manifest = read_change_set_manifest(model) -%}
  {%- set run = start_run(model, manifest) -%}
  {%- set existing = load_cached_relation(this) -%}
  {%- set is_rebuild = existing is none or should_full_refresh() -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% do create_ledger(this) %}
  {% do validate_rebuild(this, existing, is_rebuild) %}
  {% do validate_history(this, existing, is_rebuild, model, manifest) %}

  {% set target = get_table_to_apply_to(this, existing, is_rebuild) %}
  {% if is_rebuild %}
    {% do create_versioned_collapsing_table(target, options, columns) %}
  {% else %}
    {% do validate_existing_table(existing, options, columns) %}
    {% do create_tombstones(target, options, columns) %}
    {% do finish_unfinished_apply(target, options, columns, run) %}
  {% endif %}

  {% do stage_changes(target, options, columns, sql) %}
  {% do stage_leftovers(target, options, columns) %}
  {% set counts = count_outcomes(target, options, columns, read_change_set_counts(target, options, columns, sql)) %}
  {% do report_conflicts(target, options, counts) %}
  {% if counts.rows_read or run.batches %}
    {% do publish_staged_changes(target, options, columns, run, counts) %}
  {% endif %}
  {% do drop_staged(target) %}

  {% if target.identifier != this.identifier %}
    {% do create_tombstones(existing, options, columns) %}
    {% do exchange_versioned_collapsing_table(target, existing) %}
  {% endif %}
  {% do store_raw_result('main', message=get_apply_summary(counts, run), code='OK', rows_affected=counts.states + counts.cancels) %}

  {% do apply_grants(this, config.get('grants'), should_revoke=should_revoke(existing, full_refresh_mode=is_rebuild)) %}
  {% do persist_docs(this, model) %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [this.incorporate(type='table')]}) }}

{% endmaterialization %}
