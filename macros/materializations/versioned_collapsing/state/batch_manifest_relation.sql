{# The manifest of a change set, as ClickHouse reads it. #}
{% macro get_manifest_relation(change_set) %}
  {%- do return(adapter.dispatch('get_manifest_relation', 'versioned_collapsing')(change_set)) -%}
{% endmacro %}


{% macro default__get_manifest_relation(change_set) %}
  {%- do versioned_collapsing.validate_change_set_is_readable(change_set, target.type) -%}
{% endmacro %}


{% macro clickhouse__get_manifest_relation(change_set) %}
  {%- do return(
      adapter.hand_off(change_set.schema, change_set.alias ~ '__manifest', change_set.config.get('file_format'))
  ) -%}
{% endmacro %}
