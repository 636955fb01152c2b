{# All that is wrong with the names of the change set's columns, in one error. #}
{% macro validate_given_columns(model, options, given, declared) %}
  {%- set names = given | map(attribute='name') | list -%}
  {%- set is_contract_enforced = model.config.contract.enforced -%}
  {%- do versioned_collapsing.raise_problems(
      model.unique_id, versioned_collapsing.get_column_problems(options, names, declared, is_contract_enforced)
  ) -%}
{% endmacro %}


{# All that is wrong with the types of the columns, in one error. #}
{% macro validate_column_types(model, options, columns) %}
  {%- do versioned_collapsing.raise_problems(
      model.unique_id, versioned_collapsing.get_column_type_problems(options, columns.table)
  ) -%}
{% endmacro %}
