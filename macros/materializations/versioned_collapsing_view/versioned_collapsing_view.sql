{# A table of sums over one or more versioned_collapsing tables. It is filled once from the tables. From then on each
   run adds what their change feeds say has changed. Nobody writes to the tables meanwhile. #}
{% materialization versioned_collapsing_view, adapter='clickhouse' %}

  {%- set options = versioned_collapsing.get_view_options(config, model, this, sql) -%}
  {%- do versioned_collapsing.validate_view_options(model, options, sql) -%}
  {%- set existing_relation = load_cached_relation(this) -%}
  {%- do versioned_collapsing.validate_is_table(existing_relation) -%}
  {%- do versioned_collapsing.validate_source_tables(options.sources) -%}
  {%- set apply = versioned_collapsing.get_apply(model, options.sources[0].relation) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% if config.get('contract').enforced %}
    {% do get_assert_columns_equivalent(sql) %}
  {% endif %}
  {% for schema in options.sources | map(attribute='relation') | unique(attribute='schema') %}
    {% do versioned_collapsing.prepare_ledger(schema) %}
  {% endfor %}
  {% set state = versioned_collapsing.read_view_state(this, options) %}
  {% if state.is_filled and not should_full_refresh() and not state.has_changes
      and not versioned_collapsing.read_has_unknown_applies(options.sources, state) %}
    {% set message = 'nothing has changed' %}
  {% else %}
    {% do versioned_collapsing.validate_settings(model.unique_id, versioned_collapsing.read_profile_settings()) %}
    {% if should_full_refresh() or not state.is_filled %}
      {% do versioned_collapsing.validate_view_select(model, options, sql) %}
      {% do versioned_collapsing.validate_view_columns(model, options, sql) %}
    {% endif %}
    {% set message = versioned_collapsing.bring_view_up_to_date(
        this, existing_relation, options, apply, sql, should_full_refresh()
    ) %}
  {% endif %}
  {% do versioned_collapsing.store_response(message, none, {'run_id': apply.run_id}) %}

  {% set should_revoke_grants = should_revoke(existing_relation, full_refresh_mode=should_full_refresh()) %}
  {% do apply_grants(this, config.get('grants'), should_revoke=should_revoke_grants) %}
  {% do persist_docs(this, model) %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [this.incorporate(type='table')]}) }}

{% endmaterialization %}
