{# What `reconcile` and `verify` need to compare the live rows of a model with a truth:

   - operation: its name
   - table, node, options: those of the model
   - truth, truth_text: what to read the truth from, and what it is called
   - types: types of the table's columns
   - columns: the columns that are compared, by name, each with its types on both sides #}
{% macro read_comparison(operation, model, truth, columns) %}
  {%- set node = versioned_collapsing.get_collapsing_node(operation, model) -%}
  {%- set table = versioned_collapsing.read_collapsing_table(operation, node) -%}
  {%- set options = versioned_collapsing.get_valid_options(node) -%}
  {%- set relation = versioned_collapsing.get_truth_relation(operation, truth) -%}
  {%- do versioned_collapsing.validate_truth(operation, relation) -%}
  {%- set truth_text = versioned_collapsing.get_truth_text(truth) -%}
  {%- set types = versioned_collapsing.read_stored_columns(table, options.sign) -%}
  {%- set given = versioned_collapsing.read_types(relation) -%}
  {%- set compared = versioned_collapsing.as_list(columns) or (types | select('in', given) | list) -%}
  {%- set names = (options.unique_key + compared) | unique | list -%}
  {%- do versioned_collapsing.validate_reconciled_columns(
      operation, table, truth_text, compared, names, types, given
  ) -%}
  {%- do return({
      'operation': operation,
      'table': table,
      'node': node,
      'options': options,
      'truth': relation,
      'truth_text': truth_text,
      'types': types,
      'columns': versioned_collapsing._describe_compared(names, types, given),
  }) -%}
{% endmacro %}


{# The selects of the live rows and of the true rows, each with a condition on the rows that count. #}
{% macro get_compared_rows_sql(comparison, is_live_in='true', is_true_in='true') %}
  {%- set columns, unique_key = comparison.columns, comparison.options.unique_key -%}
  {%- set is_live_row = versioned_collapsing.quote_name(comparison.options.sign) ~ ' = 1 and ' ~ is_live_in -%}
  {%- do return({
      'live': versioned_collapsing.get_reconcile_rows_sql(
          comparison.table ~ ' final', columns, unique_key, is_live_row, is_live=true
      ),
      'true': versioned_collapsing.get_reconcile_rows_sql(
          comparison.truth, columns, unique_key, is_true_in, is_live=false
      ),
  }) -%}
{% endmacro %}


{# The columns by name, in the form that the macros that compare values take. #}
{% macro _describe_compared(names, types, given_types) %}
  {%- set described = {} -%}
  {%- for name in names -%}
    {%- do described.update({name: {'name': name, 'type': types[name], 'given_type': given_types[name]}}) -%}
  {%- endfor -%}
  {%- do return(described) -%}
{% endmacro %}
