{# A table of sums that follows a versioned_collapsing table: filled once from what the table holds, and from
   then on by a materialized view, `<model>_mv`, with each row that is inserted. Both happen under the table's
   writer lock, so that no row is missed and none counted twice. #}
{% materialization versioned_collapsing_view, adapter='clickhouse' %}

  {%- do versioned_collapsing.validate_settings(model.unique_id, versioned_collapsing.read_profile_settings()) -%}
  {%- set options = versioned_collapsing.get_view_options(config, model, sql) -%}
  {%- do versioned_collapsing.validate_view_options(model, options) -%}
  {%- set source_relation = versioned_collapsing.read_source_table(options.source) -%}
  {%- do versioned_collapsing.validate_source_table(source_relation, options.source) -%}
  {%- set apply = versioned_collapsing.start_apply(model, source_relation) -%}
  {%- set existing_relation = load_cached_relation(this) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% if config.get('contract').enforced %}
    {% do get_assert_columns_equivalent(sql) %}
  {% endif %}
  {% do versioned_collapsing.validate_view_place(existing_relation) %}
  {% do versioned_collapsing.validate_view_columns(model, options, sql) %}
  {% do versioned_collapsing.acquire_lock(source_relation, apply) %}
  {% if should_full_refresh() or not versioned_collapsing.read_is_current(this, source_relation, options) %}
    {% do versioned_collapsing.rebuild_view(this, existing_relation, source_relation, options, apply, sql) %}
    {% set message = 'filled from ' ~ source_relation.identifier ~ ', follows it from here' %}
  {% else %}
    {% set message = 'follows ' ~ source_relation.identifier %}
  {% endif %}
  {% do versioned_collapsing.give_up_lock(apply) %}
  {% do store_raw_result('main', message=message, code='OK', rows_affected=0) %}

  {% set should_revoke_grants = should_revoke(existing_relation, full_refresh_mode=should_full_refresh()) %}
  {% do apply_grants(this, config.get('grants'), should_revoke=should_revoke_grants) %}
  {% do persist_docs(this, model) %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [this.incorporate(type='table')]}) }}

{% endmaterialization %}
