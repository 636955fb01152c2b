{# The types of the stored columns, and which columns only the model or only the table has. #}
{% macro get_column_differences(existing, options, columns) %}
  {%- set stored = {} -%}
  {%- for column in versioned_collapsing.read_table_columns(existing) if column.name != options.sign -%}
    {%- do stored.update({column.name: column.type}) -%}
  {%- endfor -%}
  {%- do return({
      'stored': stored,
      'added': columns.names | reject('in', stored) | list,
      'absent': stored | reject('in', columns.names) | list,
  }) -%}
{% endmacro %}
