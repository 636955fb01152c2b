{# Reads the options of a view once and raises one error for all that is wrong with them. #}
{% macro get_view_options(config, model, sql) %}
  {%- set sources = [] -%}
  {%- for unique_id in model.depends_on.nodes if unique_id in graph.nodes
      and graph.nodes[unique_id].config.materialized == 'versioned_collapsing' -%}
    {%- do sources.append(graph.nodes[unique_id]) -%}
  {%- endfor -%}
  {%- set options = {
      'source': sources | first,
      'engine': config.get('engine', 'SummingMergeTree'),
      'order_by': versioned_collapsing.as_list(config.get('order_by')),
      'partition_by': versioned_collapsing.as_list(config.get('partition_by')),
      'settings': config.get('settings') or {},
  } -%}
  {%- do options.update({'definition': local_md5(sql ~ [options.engine, options.order_by, options.partition_by,
      options.settings])}) -%}
  {%- set known = ['engine', 'order_by', 'partition_by', 'settings', 'indexes', 'projections'] -%}
  {%- set meaningless = dict(versioned_collapsing.get_meaningless_options()) -%}
  {%- do meaningless.pop('engine') -%}
  {%- set problems = versioned_collapsing.get_option_name_problems(model, known, meaningless) -%}
  {%- if sources | length != 1 -%}
    {%- do problems.append(
        "select: reads " ~ sources | map(attribute='name') | sort | list ~ "; a view follows one versioned_collapsing "
        ~ "model, by `ref`."
    ) -%}
  {%- endif -%}
  {%- if not options.order_by -%}
    {%- do problems.append("order_by: missing. Name the columns by which the sums are grouped.") -%}
  {%- endif -%}
  {%- if 'MergeTree' not in options.engine -%}
    {%- do problems.append(
        "engine: is '" ~ options.engine ~ "'; it takes an engine of the MergeTree family, as SummingMergeTree or "
        ~ "AggregatingMergeTree."
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'versioned_collapsing_view') -%}
  {%- do return(options) -%}
{% endmacro %}
