{# A table of sums that follows a versioned_collapsing table: filled once from what the table holds, and from
   then on by a materialized view, `<model>_mv`, with each row that is inserted. Both happen under the table's
   writer lock, so that no row is missed and none counted twice. #}
{% materialization versioned_collapsing_view, adapter='clickhouse' %}

  {%- do versioned_collapsing.validate_settings(model.unique_id, versioned_collapsing.read_profile_settings()) -%}
  {%- set options = versioned_collapsing.get_view_options(config, model, sql) -%}
  {%- set source = versioned_collapsing.get_source_table(options.source) -%}
  {%- set run = versioned_collapsing.start_run(
      model, {'batches': [], 'exists': false, 'is_partial': false}, {'old_state': 'lookup', 'chunks': 1}
  ) -%}
  {%- set existing = load_cached_relation(this) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% if config.get('contract').enforced %}
    {% do get_assert_columns_equivalent(sql) %}
  {% endif %}
  {% do versioned_collapsing.validate_view_place(this, existing) %}
  {% do versioned_collapsing.raise_problems(
      model.unique_id, versioned_collapsing.validate_view_columns(options.source, options, sql),
      'versioned_collapsing_view'
  ) %}
  {% do versioned_collapsing.acquire_lock(source, run, options.source.name) %}
  {% if should_full_refresh() or not versioned_collapsing.is_view_current(this, source, options) %}
    {% do versioned_collapsing.rebuild_view(this, existing, source, options, run, sql) %}
    {% set message = 'filled from ' ~ source.identifier ~ ', follows it from here' %}
  {% else %}
    {% set message = 'follows ' ~ source.identifier %}
  {% endif %}
  {% do versioned_collapsing.give_up_lock(run) %}
  {% do store_raw_result('main', message=message, code='OK', rows_affected=0) %}

  {% do apply_grants(
      this, config.get('grants'), should_revoke=should_revoke(existing, full_refresh_mode=should_full_refresh())
  ) %}
  {% do persist_docs(this, model) %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [this.incorporate(type='table')]}) }}

{% endmaterialization %}
