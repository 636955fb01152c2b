{# The model that this package would apply the changes to. #}
{% macro get_measured_model(sample) %}
  {%- do return({
      'unique_id': 'model.versioned_collapsing.which_engine',
      'name': 'which_engine',
      'resource_type': 'model',
      'package_name': 'versioned_collapsing',
      'database': '',
      'schema': sample.schema,
      'alias': 'trial',
      'columns': {},
      'depends_on': {'nodes': [], 'macros': []},
      'unrendered_config': {},
      'config': {
          'materialized': 'versioned_collapsing', 'unique_key': sample.key, 'version': '_dbt_engine_version',
          'sign': '_dbt_engine_sign', 'is_deleted': '_dbt_engine_is_deleted',
      },
  }) -%}
{% endmacro %}


{# Makes sure that the tombstones and the ledger of the table exist. #}
{% macro prepare_measured_apply(sample) %}
  {%- set parts = versioned_collapsing.read_measured_parts(sample) -%}
  {%- do versioned_collapsing.prepare_ledger(parts.relation) -%}
  {%- do versioned_collapsing.prepare_tombstones(parts.relation, parts.options, parts.columns, none) -%}
{% endmacro %}


{# All that an apply does, from the lock to the ledger. #}
{% macro apply_measured_changes(sample) %}
  {%- set parts = versioned_collapsing.read_measured_parts(sample) -%}
  {%- set model = versioned_collapsing.get_measured_model(sample) -%}
  {%- set apply = versioned_collapsing.start_apply(model, parts.relation, {}, parts.options) -%}
  {%- do versioned_collapsing.acquire_lock(parts.relation, apply) -%}
  {%- set ledger = versioned_collapsing.read_ledger(parts.relation, model) -%}
  {%- set apply = dict(apply, number=ledger.number + 1) -%}
  {%- set truncate = versioned_collapsing.read_truncate(parts.options, parts.columns, parts.sql, ledger, apply) -%}
  {%- do versioned_collapsing.apply_change_set(
      parts.relation, parts.options, parts.columns, parts.sql, truncate, apply
  ) -%}
  {%- do versioned_collapsing.give_up_lock(apply) -%}
{% endmacro %}


{% macro read_measured_parts(sample) %}
  {%- set model = versioned_collapsing.get_measured_model(sample) -%}
  {%- set options = versioned_collapsing.get_versioned_collapsing_options(model.config, model) -%}
  {%- set sql = 'select * from ' ~ sample.database ~ '.changes' -%}
  {%- set given = versioned_collapsing.read_query_columns(sql) -%}
  {%- do return({
      'relation': api.Relation.create(schema=sample.schema, identifier='trial', type='table'),
      'options': options,
      'columns': versioned_collapsing.get_versioned_collapsing_columns(options, given, {}),
      'sql': sql,
  }) -%}
{% endmacro %}
