{# The options of a view, and the tables that it reads with the node, the relation and the options of each.
   validate_view_options checks them. #}
{% macro get_view_options(config, model, this, sql) %}
  {%- set engine = versioned_collapsing.get_option(config, 'engine', 'SummingMergeTree') -%}
  {%- set order_by = versioned_collapsing.as_list(versioned_collapsing.get_option(config, 'order_by')) -%}
  {%- set partition_by = versioned_collapsing.as_list(versioned_collapsing.get_option(config, 'partition_by')) -%}
  {%- set settings = versioned_collapsing.get_option(config, 'settings', {}) -%}
  {%- do return({
      'sources': versioned_collapsing.get_view_sources(model, this),
      'engine': engine,
      'order_by': order_by,
      'partition_by': partition_by,
      'settings': settings,
      'definition': local_md5(sql ~ [engine, order_by, partition_by, settings]),
  }) -%}
{% endmacro %}


{# The tables that a view reads, in the order of their unique_id, each with its position. All views lock them in this
   order. #}
{% macro get_view_sources(model, this) %}
  {%- set sources = [] -%}
  {%- for node in graph.nodes.values()
      if node.unique_id in model.depends_on.nodes and node.config.materialized == 'versioned_collapsing' -%}
    {%- set options = versioned_collapsing.get_versioned_collapsing_options(node.config, node) -%}
    {%- do sources.append({
        'name': node.name,
        'node': node,
        'relation': this.incorporate(path={'schema': node.schema, 'identifier': node.alias}, type='table'),
        'options': options,
        'sign': options.sign,
    }) -%}
  {%- endfor -%}
  {%- set placed = [] -%}
  {%- for source in sources | sort(attribute='node.unique_id') -%}
    {%- do placed.append(dict(source, position=loop.index0)) -%}
  {%- endfor -%}
  {%- do return(placed) -%}
{% endmacro %}
