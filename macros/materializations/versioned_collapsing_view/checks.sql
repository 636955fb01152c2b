{# All that is wrong with the options of a view, in one error. #}
{% macro validate_view_options(model, options) %}
  {%- set known = ['engine', 'order_by', 'partition_by', 'settings', 'indexes', 'projections'] -%}
  {%- set meaningless = dict(versioned_collapsing.get_meaningless_options()) -%}
  {%- do meaningless.pop('engine') -%}
  {%- set problems = versioned_collapsing.get_option_name_problems(model, known, meaningless) -%}
  {%- if options.sources | length != 1 -%}
    {%- do problems.append(
        "select: the view reads from " ~ (options.sources | map(attribute='name') | sort | join(' and ')
        or 'no versioned_collapsing model') ~ ". It must `ref` exactly one versioned_collapsing model."
    ) -%}
  {%- endif -%}
  {%- if not options.order_by -%}
    {%- do problems.append("order_by is missing. Name the columns by which the sums are grouped.") -%}
  {%- endif -%}
  {%- if 'MergeTree' not in options.engine -%}
    {%- do problems.append(
        "engine is '" ~ options.engine ~ "'; it takes an engine of the MergeTree family, such as SummingMergeTree or "
        ~ "AggregatingMergeTree."
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'versioned_collapsing_view') -%}
{% endmacro %}


{# A view follows a table that is there. #}
{% macro validate_source_table(source_relation, source) %}
  {%- if source_relation is none -%}
    {%- do exceptions.raise_compiler_error(
        "The table " ~ source.schema ~ "." ~ source.alias ~ ", which the view follows, does not exist. Build it "
        ~ "first: "
        ~ "dbt run --select " ~ versioned_collapsing.get_selector(source)
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro validate_view_place(existing_relation) %}
  {%- if existing_relation is not none and existing_relation.type != 'table' -%}
    {%- do exceptions.raise_compiler_error(
        existing_relation ~ " is a " ~ existing_relation.type ~ ", and a table cannot replace it. Drop it or rename "
        ~ "it, then run again."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# Rows that are inserted into the source must reach the view. #}
{% macro validate_view_is_triggered(this, source_relation, is_triggered, apply) %}
  {%- if not is_triggered -%}
    {%- do versioned_collapsing.stop_run(apply,
        this ~ " would not follow " ~ source_relation ~ ", because a materialized view receives only the rows of the "
        ~ "first table in its select. Begin the select with " ~ source_relation.identifier ~ ", and join the other "
        ~ "tables to it."
    ) -%}
  {%- endif -%}
{% endmacro %}
