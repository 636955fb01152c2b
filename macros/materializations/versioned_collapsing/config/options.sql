{# Every option of the materialization. What is wrong with them, validate_versioned_collapsing_options says. #}
{% macro get_versioned_collapsing_options(config, model) %}
  {%- set unique_key = versioned_collapsing.as_list(config.get('unique_key')) -%}
  {%- set options = {
      'unique_key': unique_key,
      'version': config.get('version', '_version'),
      'sign': config.get('sign', '_sign'),
      'is_deleted': config.get('is_deleted', '_is_deleted'),
      'order_by': versioned_collapsing.as_list(config.get('order_by')) or unique_key,
      'primary_key': versioned_collapsing.as_list(config.get('primary_key')),
      'partition_by': versioned_collapsing.as_list(config.get('partition_by')) | reject('equalto', 'tuple()') | list,
      'ttl': config.get('ttl'),
      'settings': config.get('settings') or {},
      'old_state': config.get('old_state', 'lookup'),
      'delete_version': config.get('delete_version', 'respect'),
      'remember_deletes': config.get('remember_deletes', true),
      'combine': config.get('combine') or {},
      'on_conflict': config.get('on_conflict', 'warn'),
      'on_schema_change': versioned_collapsing._get_on_schema_change(config, model),
      'publish': config.get('publish', 'auto'),
      'chunks': config.get('chunks', 1),
      'projections': config.get('projections') or [],
      'change_feed': config.get('change_feed', 'auto'),
  } -%}
  {%- do return(options) -%}
{% endmacro %}


{# dbt itself gives every model `on_schema_change: ignore`; only what the project says counts here. #}
{% macro _get_on_schema_change(config, model) %}
  {%- do return(config.get('on_schema_change') if 'on_schema_change' in model.unrendered_config else 'fail') -%}
{% endmacro %}
