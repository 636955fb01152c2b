{# A name must mean one node. #}
{% macro validate_one_node(operation, name, found) %}
  {%- if found | length > 1 -%}
    {%- do exceptions.raise_compiler_error(
        operation ~ ": " ~ found | length ~ " models have the name '" ~ name ~ "'. Use the unique_id of one of them: "
        ~ found | map(attribute='unique_id') | sort | join(', ') ~ "."
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro validate_collapsing_node(operation, name, found, nodes) %}
  {%- if not found -%}
    {%- set known = nodes | map(attribute='name') | unique | sort | join(', ') -%}
    {%- do exceptions.raise_compiler_error(
        operation ~ ": the project has no versioned_collapsing model '" ~ name ~ "'. It has "
        ~ (known or 'none') ~ "."
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro validate_table_is_there(operation, node, table) %}
  {%- if table is none -%}
    {%- do exceptions.raise_compiler_error(
        operation ~ ": the table " ~ node.schema ~ '.' ~ node.alias ~ " does not exist. Build it: dbt run --select "
        ~ versioned_collapsing.get_selector(node)
    ) -%}
  {%- endif -%}
{% endmacro %}


{# If a run died while it wrote, the model must complete that run first. #}
{% macro validate_finished(operation, table, node, ledger, apply) %}
  {%- if ledger.unfinished -%}
    {%- do versioned_collapsing.stop_run(apply,
        operation ~ ": a run was interrupted while it published rows to " ~ table ~ ". Complete it first: "
        ~ "dbt run --select "
        ~ versioned_collapsing.get_selector(node)
    ) -%}
  {%- endif -%}
{% endmacro %}


{# The lock of a run that is still at work stays. #}
{% macro validate_can_be_released(table, holder) %}
  {%- if holder.is_working -%}
    {%- do exceptions.raise_compiler_error(
        "release_lock: run " ~ holder.run_id ~ " holds the lock on " ~ table ~ " and is still running. Wait until it "
        ~ "ends, or kill its statement first."
    ) -%}
  {%- endif -%}
{% endmacro %}
