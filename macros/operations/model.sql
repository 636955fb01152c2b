{# The node of the versioned_collapsing model that an operation is for. The model is given by its name. If several
   packages, or several versions of a model, have that name, it is given by its unique_id. #}
{% macro get_collapsing_node(operation, model) %}
  {%- set nodes = versioned_collapsing.get_collapsing_nodes() -%}
  {%- set found = versioned_collapsing.get_nodes_named(model, nodes) -%}
  {%- do versioned_collapsing.validate_one_node(operation, model, found) -%}
  {%- do versioned_collapsing.validate_collapsing_node(operation, model, found, nodes) -%}
  {%- do return(found[0]) -%}
{% endmacro %}

{% macro get_collapsing_nodes() %}
  {%- do return(
      graph.nodes.values() | selectattr('config.materialized', 'equalto',
      'versioned_collapsing') | sort(attribute='name')
      | list
  ) -%}
{% endmacro %}

{# The node with this unique_id or, if there is none, the nodes with this name. #}
{% macro get_nodes_named(name, nodes) %}
  {%- set by_id = nodes | selectattr('unique_id', 'equalto', name) | list -%}
  {%- do return(by_id or nodes | selectattr('name', 'equalto', name) | list) -%}
{% endmacro %}

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

{# The table of such a model. Raises an error if it does not exist, or if the profile has settings that leave rows
   out. #}
{% macro read_collapsing_table(operation, node) %}
  {%- do versioned_collapsing.validate_settings(operation, versioned_collapsing.read_profile_settings()) -%}
  {%- set table = adapter.get_relation(node.database, node.schema, node.alias) -%}
  {%- do versioned_collapsing.validate_table_is_there(operation, node, table) -%}
  {%- do versioned_collapsing.validate_no_virtual_columns(
      table, versioned_collapsing.read_table_columns(table) | map(attribute='name') | list
  ) -%}
  {%- do return(table) -%}
{% endmacro %}

{% macro validate_table_is_there(operation, node, table) %}
  {%- if table is none -%}
    {%- do exceptions.raise_compiler_error(
        operation ~ ": the table " ~ node.schema ~ '.' ~ node.alias ~ " does not exist. Build it: dbt run --select "
        ~ versioned_collapsing.get_selector(node)
    ) -%}
  {%- endif -%}
{% endmacro %}

{% macro get_valid_options(node) %}
  {%- set options = versioned_collapsing.get_versioned_collapsing_options(node.config, node) -%}
  {%- do versioned_collapsing.validate_versioned_collapsing_options(node, options) -%}
  {%- do return(options) -%}
{% endmacro %}

{# Takes the lock for an operation that writes to the table of a model. Returns the node, the table, its options and
   columns, and the apply. #}
{% macro begin_operation(operation, model) %}
  {%- set node = versioned_collapsing.get_collapsing_node(operation, model) -%}
  {%- set table = versioned_collapsing.read_collapsing_table(operation, node) -%}
  {%- set options = versioned_collapsing.get_valid_options(node) -%}
  {%- set apply = versioned_collapsing.get_apply(
      node, table, options={'old_state': 'stream', 'change_feed': options.change_feed}
  ) -%}
  {%- do versioned_collapsing.prepare_ledger(table) -%}
  {%- do versioned_collapsing.acquire_lock(table, apply) -%}
  {%- set ledger = versioned_collapsing.read_restored_ledger(table, options, node, apply) -%}
  {%- set apply = dict(apply, number=ledger.number + 1) -%}
  {%- do versioned_collapsing.validate_finished(operation, table, node, ledger, apply) -%}
  {%- do return((node, table, options, versioned_collapsing.read_described_columns(table, options), apply)) -%}
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
