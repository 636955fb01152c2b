{# The node of a versioned_collapsing model that an operation is for, by its name, or by its unique_id where two
   packages, or two versions of a model, have one of that name. #}
{% macro get_collapsing_node(operation, model) %}
  {%- set collapsing = graph.nodes.values() | selectattr('config.materialized', 'equalto', 'versioned_collapsing') | list -%}
  {%- set node = versioned_collapsing.get_node_named(operation, model, collapsing) -%}
  {%- if node is none -%}
    {%- set known = collapsing | map(attribute='name') | unique | sort | join(', ') -%}
    {%- do exceptions.raise_compiler_error(operation ~ ": there is no versioned_collapsing model '" ~ model ~ "' in the project. There are: " ~ (known or 'none') ~ ".") -%}
  {%- endif -%}
  {%- do return(node) -%}
{% endmacro %}


{# The one among nodes that has a name or a unique_id, none if there is none. #}
{% macro get_node_named(operation, name, nodes) %}
  {%- set found = nodes | selectattr('unique_id', 'equalto', name) | list or nodes | selectattr('name', 'equalto', name) | list -%}
  {%- if found | length > 1 -%}
    {%- do exceptions.raise_compiler_error(
        operation ~ ": there are " ~ found | length ~ " models '" ~ name ~ "'. Say which by its unique_id: "
        ~ found | map(attribute='unique_id') | sort | join(', ') ~ "."
    ) -%}
  {%- endif -%}
  {%- do return(found | first if found else none) -%}
{% endmacro %}


{# The table of such a model. #}
{% macro get_collapsing_table(operation, node) %}
  {%- do versioned_collapsing.validate_settings(operation, versioned_collapsing.read_profile_settings()) -%}
  {%- set table = adapter.get_relation(node.database, node.schema, node.alias) -%}
  {%- if table is none -%}
    {%- do exceptions.raise_compiler_error(operation ~ ": the table " ~ node.schema ~ '.' ~ node.alias ~ " is not there. Build it: dbt run --select " ~ versioned_collapsing.get_selector(node)) -%}
  {%- endif -%}
  {%- do return(table) -%}
{% endmacro %}


{# A run of an operation, for the lock and the ledger. #}
{% macro start_operation(node) %}
  {%- do return(versioned_collapsing.start_run(node, {'batches': [], 'exists': false, 'is_partial': false}, {'old_state': 'lookup', 'chunks': 1})) -%}
{% endmacro %}


{# Stops an operation when a run began to write and did not end: what is torn is completed by the model. #}
{% macro require_finished(operation, table, node, run) %}
  {%- if versioned_collapsing.read_ledger(table, node).unfinished -%}
    {%- do versioned_collapsing.stop_run(run,
        operation ~ ": a run on " ~ table ~ " died while it wrote. Complete it first: dbt run --select " ~ versioned_collapsing.get_selector(node)
    ) -%}
  {%- endif -%}
{% endmacro %}


{# The rows of a query, as lines of a table with a header. #}
{% macro log_table(rows, indent='  ') %}
  {%- for line in versioned_collapsing.format_table(rows) -%}
    {%- do log(indent ~ line, info=true) -%}
  {%- endfor -%}
{% endmacro %}


{% macro format_table(rows) %}
  {%- set cells = [rows.column_names | list] -%}
  {%- for row in rows.rows -%}
    {%- do cells.append(row.values() | map('string') | list) -%}
  {%- endfor -%}
  {%- set lines = [] -%}
  {%- for row in cells -%}
    {%- set padded = [] -%}
    {%- for cell in row -%}
      {%- do padded.append(cell.ljust(cells | map(attribute=loop.index0) | map('length') | max)) -%}
    {%- endfor -%}
    {%- do lines.append((padded | join('  ')).rstrip()) -%}
  {%- endfor -%}
  {%- do return(lines) -%}
{% endmacro %}
