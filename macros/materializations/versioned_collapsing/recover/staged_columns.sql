{# The columns of the staged changes of an earlier run, which had perhaps other ones. #}
{% macro read_staged_columns(target_relation, options) %}
  {%- set table = [] -%}
  {%- set given = [] -%}
  {%- set staged = versioned_collapsing.get_change_set_relation(target_relation, options) -%}
  {%- for column in versioned_collapsing.read_table_columns(staged) -%}
    {%- if column.name.startswith('_dbt_') -%}
      {%- do given.append(column.name | replace('_dbt', '', 1)) -%}
    {%- else -%}
      {%- do table.append({'name': column.name, 'type': column.type, 'given_type': column.type}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set columns = versioned_collapsing.describe_columns(options, table, given) -%}
  {%- do return(dict(columns, is_folded='_unmerged' in given)) -%}
{% endmacro %}
