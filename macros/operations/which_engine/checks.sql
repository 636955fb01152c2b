{% macro validate_measured_node(name, found, nodes) %}
  {%- if not found -%}
    {%- set near = versioned_collapsing.get_near_name(name, nodes | map(attribute='name') | list) -%}
    {%- do exceptions.raise_compiler_error(
        "which_engine: the project has no model, seed, snapshot or source '" ~ name ~ "'."
        ~ (" Do you mean '" ~ near ~ "'?" if near else '')
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro validate_measured_table(node, table) %}
  {%- if node.database == 'spark' -%}
    {%- do exceptions.raise_compiler_error(
        "which_engine: " ~ node.name ~ " is a table of Spark's. Name one of ClickHouse's."
    ) -%}
  {%- elif table is none -%}
    {%- do exceptions.raise_compiler_error(
        "which_engine: " ~ node.name ~ " has no table yet. Build it first, or name a source that has one."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# Checks all columns and numbers that the arguments name, before anything is made. #}
{% macro validate_sample(node, sample, given, changed) %}
  {%- set names = sample.columns | map(attribute='name') | list -%}
  {%- set problems = [] -%}
  {%- if not sample.key -%}
    {%- do problems.append("the key is not known: the model has no unique_key. Add it: unique_key: [order_id]") -%}
  {%- endif -%}
  {%- for name in sample.key + versioned_collapsing.as_list(given.sums)
      + versioned_collapsing.as_list(given.group_by) if name not in names -%}
    {%- do problems.append(node.name ~ " has no column " ~ name ~ ". It has " ~ names | join(', ')) -%}
  {%- endfor -%}
  {%- if sample.changes -%}
    {%- set wanted = names + versioned_collapsing.as_list(given.is_deleted)
        + versioned_collapsing.as_list(given.version) -%}
    {%- for name in wanted | unique if name not in changed -%}
      {%- do problems.append("the changes have no column " ~ name ~ ". They have " ~ changed | join(', ')) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- for name in ('rows', 'trials', 'reads') if given[name] is not integer or given[name] < 1 -%}
    {%- do problems.append(name ~ " is " ~ given[name] ~ ". Give a whole number above 0") -%}
  {%- endfor -%}
  {%- if problems -%}
    {%- do exceptions.raise_compiler_error("which_engine:\n  - " ~ problems | join("\n  - ")) -%}
  {%- endif -%}
{% endmacro %}


{# If the ways do not end with the same rows, their times mean nothing. #}
{% macro validate_figures(sample, counts, figures) %}
  {%- if not counts.stored or not counts.changes -%}
    {%- do exceptions.raise_compiler_error(
        "which_engine: the sample has " ~ versioned_collapsing.format_count(counts.stored, 'row') ~ " and "
        ~ versioned_collapsing.format_count(counts.changes, 'change') ~ ". It needs some of both. Give more rows, or "
        ~ "changes whose keys are not null."
    ) -%}
  {%- endif -%}
  {%- set wrong = figures | rejectattr('is_right') | map(attribute='way') | list -%}
  {%- if wrong -%}
    {%- do exceptions.raise_compiler_error(
        "which_engine: not all ways came to the sums of the changed sample, which is an error of which_engine or of "
        ~ "ClickHouse, so that their seconds say nothing: " ~ wrong | join(', ')
    ) -%}
  {%- endif -%}
{% endmacro %}
