{# Every option of the materialization. validate_versioned_collapsing_options checks them. #}
{% macro get_versioned_collapsing_options(config, model) %}
  {%- set given = versioned_collapsing._get_given_options(config, model) -%}
  {%- set unique_key = versioned_collapsing.as_list(given.unique_key) -%}
  {%- do return(dict(
      given,
      unique_key=unique_key,
      order_by=versioned_collapsing._get_expressions(given.order_by) or unique_key,
      primary_key=versioned_collapsing._get_expressions(given.primary_key),
      partition_by=versioned_collapsing._get_expressions(given.partition_by) | reject('equalto', 'tuple()') | list,
  )) -%}
{% endmacro %}


{# The expressions of a key: `(a, b)` and `tuple(a, b)` are two. #}
{% macro _get_expressions(value) %}
  {%- set expressions = [] -%}
  {%- for entry in versioned_collapsing.as_list(value) -%}
    {%- set text = entry | string | trim -%}
    {%- set tuple = text[5:] if text.startswith('tuple(') else text -%}
    {%- set parts = versioned_collapsing.strip_parentheses(tuple) -%}
    {%- do expressions.extend(
        versioned_collapsing.cut_at_commas(parts) if parts not in ('', tuple) else [entry]
    ) -%}
  {%- endfor -%}
  {%- do return(expressions) -%}
{% endmacro %}


{# Each option as the model gives it, or its default. #}
{% macro _get_given_options(config, model) %}
  {%- set defaults = {
      'unique_key': none,
      'version': '_version',
      'sign': '_sign',
      'is_deleted': '_is_deleted',
      'order_by': none,
      'primary_key': none,
      'partition_by': none,
      'ttl': none,
      'settings': {},
      'indexes': [],
      'projections': [],
      'old_state': 'lookup',
      'delete_version': 'respect',
      'remember_deletes': true,
      'combine': {},
      'on_conflict': 'warn',
      'publish': 'auto',
      'chunks': 1,
      'change_feed': 'auto',
  } -%}
  {%- set given = {'on_schema_change': versioned_collapsing._get_on_schema_change(config, model)} -%}
  {%- for name, default in defaults.items() -%}
    {%- do given.update({name: versioned_collapsing.get_option(config, name, default)}) -%}
  {%- endfor -%}
  {%- do return(given) -%}
{% endmacro %}


{# dbt itself sets this option for every model. Only a value that the project sets counts. #}
{% macro _get_on_schema_change(config, model) %}
  {%- set is_given = 'on_schema_change' in (config.get('meta') or {})
      or versioned_collapsing.is_in_config(model, 'on_schema_change') -%}
  {%- do return(versioned_collapsing.get_option(config, 'on_schema_change') if is_given else 'fail') -%}
{% endmacro %}
