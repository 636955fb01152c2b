{# Measures what several engines cost on a sample of a table and of its changes. Prints the figures, and says which
   engine to take. All tables are in a database of their own. The operation drops it at the end, or the next one does if
   this one dies. #}
{% macro which_engine(
    model, changes=none, unique_key=none, is_deleted=none, version=none, sums=none, group_by=none, views=none,
    reads=10, rows=1000000, trials=3
) %}
  {%- set node = versioned_collapsing.get_measured_node(model) -%}
  {%- set table = adapter.get_relation(node.database, node.schema, node.alias or node.identifier) -%}
  {%- do versioned_collapsing.validate_measured_table(node, table) -%}
  {%- do versioned_collapsing.validate_server(versioned_collapsing.read_server(table)) -%}
  {%- set sample = versioned_collapsing.read_sample(node, table, changes, {
      'unique_key': unique_key, 'is_deleted': is_deleted, 'version': version, 'sums': sums, 'group_by': group_by,
      'rows': rows, 'trials': trials, 'reads': reads,
  }) -%}
  {%- do log('which_engine: measures in the database ' ~ sample.database ~ ', which it drops in the end. If it is '
      ~ 'interrupted: drop database ' ~ sample.database, info=true) -%}
  {%- do run_query('drop database if exists ' ~ sample.database) -%}
  {%- do run_query('create database ' ~ sample.database) -%}
  {%- set counts = versioned_collapsing.make_sample(sample) -%}
  {%- set figures = [] -%}
  {%- if counts.stored and counts.changes -%}
    {%- for way in versioned_collapsing.get_ways(sample, counts) -%}
      {%- do figures.append(versioned_collapsing.measure_way(way, sample)) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do run_query('drop database ' ~ sample.database) -%}
  {%- do versioned_collapsing.validate_figures(sample, counts, figures) -%}
  {%- set is_followed = versioned_collapsing.read_is_followed(node, table) if views is none else views -%}
  {%- do versioned_collapsing.log_figures(sample, counts, figures, is_followed) -%}
{% endmacro %}


{# The node of a table that changes: a model, seed, snapshot or source, by its name or unique_id. #}
{% macro get_measured_node(name) %}
  {%- set nodes = graph.nodes.values() | selectattr('resource_type', 'in', ('model', 'seed', 'snapshot')) | list -%}
  {%- set nodes = nodes + (graph.sources.values() | list) -%}
  {%- set found = versioned_collapsing.get_nodes_named(name, nodes) -%}
  {%- do versioned_collapsing.validate_one_node('which_engine', name, found) -%}
  {%- do versioned_collapsing.validate_measured_node(name, found, nodes) -%}
  {%- do return(found[0]) -%}
{% endmacro %}


{# Whether views follow the table: models of dbt, or what ClickHouse knows of. #}
{% macro read_is_followed(node, table) %}
  {%- set is_table = versioned_collapsing.get_is_table_sql(table) -%}
  {%- do return(
      versioned_collapsing.get_followers(node) | length > 0
      or versioned_collapsing.read_row_count('system.tables', is_table ~ ' and notEmpty(dependencies_table)') | int > 0
  ) -%}
{% endmacro %}
