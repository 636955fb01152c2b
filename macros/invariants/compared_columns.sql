{% macro validate_compared_columns(table, columns) %}
  {%- set unknown = versioned_collapsing.as_list(columns) | reject('in', table.columns) | list -%}
  {%- if unknown and table.columns -%}
    {%- do exceptions.raise_compiler_error(
        "columns: " ~ table.relation ~ " lacks " ~ unknown | join(', ') ~ ". It has " ~ table.columns | join(', ')
        ~ ". Correct the name."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# The columns of a table that are compared with a truth: `name`, `type` in the table, and `given_type` in the truth. #}
{% macro get_compared_columns(table, columns, given_types) %}
  {%- set names = versioned_collapsing.as_list(columns)
      or (table.columns | reject('equalto', table.version_name) | list) -%}
  {%- set compared = [] -%}
  {%- for name in names -%}
    {%- set type = table.columns.get(name, 'String') -%}
    {%- do compared.append({'name': name, 'type': type, 'given_type': given_types.get(name, type)}) -%}
  {%- endfor -%}
  {%- do return(compared) -%}
{% endmacro %}
