{# Merges the partitions in which enough rows wait to collapse: at least a fifth, unless the caller sets another share.
   #}
{% macro compact(model, threshold=0.2) %}
  {%- set node = versioned_collapsing.get_collapsing_node('compact', model) -%}
  {%- set table = versioned_collapsing.read_collapsing_table('compact', node) -%}
  {%- set options = versioned_collapsing.get_valid_options(node) -%}
  {%- set partitions = run_query(
      versioned_collapsing.get_waiting_rows_sql(table, options, threshold, most=1000000)
  ).rows -%}
  {%- for partition in partitions -%}
    {%- do log(
        'Merging partition ' ~ partition['partition_id'] ~ ' (' ~ loop.index ~ ' of ' ~ partitions | length ~ '): '
        ~ partition['waiting'] ~ ' of ' ~ versioned_collapsing.format_count(partition['stored'], 'row')
        ~ (' is' if partition['waiting'] | int == 1 else ' are') ~ ' waiting for a merge', info=true
    ) -%}
    {%- do run_query(
        "optimize table " ~ table ~ " partition id " ~ versioned_collapsing.quote_literal(partition['partition_id'])
        ~ " final"
    ) -%}
  {%- endfor -%}
  {%- if not partitions -%}
    {%- do log(
        table ~ ': nothing to do. No partition has a share of ' ~ threshold
        ~ ' or more of its rows waiting for a merge', info=true
    ) -%}
  {%- endif -%}
{% endmacro %}
