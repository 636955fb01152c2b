{# Merges the partitions of which so large a part waits to collapse that it pays: a fifth, unless told
   otherwise. #}
{% macro compact(model, threshold=0.2) %}
  {%- set node = versioned_collapsing.get_collapsing_node('compact', model) -%}
  {%- set table = versioned_collapsing.get_collapsing_table('compact', node) -%}
  {%- set options = versioned_collapsing.get_versioned_collapsing_options(node.config, node) -%}
  {%- set query -%}
    select _partition_id as partition_id, count() as stored, count() - sum({{ adapter.quote(options.sign) }}) as waiting
    from {{ table }}
    group by partition_id
    having waiting >= stored * {{ threshold }}
    order by waiting desc
    settings final = 0
  {%- endset -%}
  {%- set partitions = run_query(query).rows -%}
  {%- for partition in partitions -%}
    {%- do log(loop.index ~ ' of ' ~ partitions | length ~ ': partition ' ~ partition['partition_id'] ~ ', ' ~ partition['waiting'] ~ ' of ' ~ partition['stored'] ~ ' rows wait to collapse', info=true) -%}
    {%- do run_query("optimize table " ~ table ~ " partition id '" ~ partition['partition_id'] ~ "' final") -%}
  {%- endfor -%}
  {%- if not partitions -%}
    {%- do log(table ~ ': no partition of which a part of ' ~ threshold ~ ' or more waits to collapse', info=true) -%}
  {%- endif -%}
{% endmacro %}
