{# The options of a view, with the nodes of the tables that it reads. What is wrong with them, validate_view_options
   says. #}
{% macro get_view_options(config, model, sql) %}
  {%- set read = graph.nodes.values() | selectattr('unique_id', 'in', model.depends_on.nodes) -%}
  {%- set sources = read | selectattr('config.materialized', 'equalto', 'versioned_collapsing') | list -%}
  {%- set engine = config.get('engine', 'SummingMergeTree') -%}
  {%- set order_by = versioned_collapsing.as_list(config.get('order_by')) -%}
  {%- set partition_by = versioned_collapsing.as_list(config.get('partition_by')) -%}
  {%- set settings = config.get('settings') or {} -%}
  {%- do return({
      'sources': sources,
      'source': sources | first,
      'engine': engine,
      'order_by': order_by,
      'partition_by': partition_by,
      'settings': settings,
      'definition': local_md5(sql ~ [engine, order_by, partition_by, settings]),
  }) -%}
{% endmacro %}
