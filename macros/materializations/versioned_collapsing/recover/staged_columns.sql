{# The columns that an earlier run staged, which may differ from those that the model has now. Columns that the table no
   longer has are left out. #}
{% macro read_staged_columns(target_relation, options) %}
  {%- set stored = versioned_collapsing.read_stored_types(target_relation, options.sign) -%}
  {%- set table = [] -%}
  {%- set given = [] -%}
  {%- set role = versioned_collapsing.get_change_set_role(options) -%}
  {%- set staged = versioned_collapsing.get_helper_relation(target_relation, role) -%}
  {%- for column in versioned_collapsing.read_table_columns(staged) if column.name != options.sign -%}
    {%- if column.name.startswith('_dbt_') -%}
      {%- do given.append(column.name | replace('_dbt', '', 1)) -%}
    {%- elif column.name in stored -%}
      {%- do table.append({'name': column.name, 'type': column.type, 'given_type': column.type}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set columns = versioned_collapsing.describe_columns(options, table, given) -%}
  {%- do return(dict(columns, is_folded='_unmerged' in given)) -%}
{% endmacro %}
