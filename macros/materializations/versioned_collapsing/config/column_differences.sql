{# The columns that only the model has (`added`) and those that only the table has (`absent`). `stored` has the types of
   the table's columns. #}
{% macro get_column_differences(stored, columns) %}
  {%- do return({
      'added': columns.names | reject('in', stored) | list,
      'absent': stored | reject('in', columns.names) | list,
  }) -%}
{% endmacro %}


{# The types of the stored columns by their name, without the sign. #}
{% macro read_stored_types(relation, sign) %}
  {%- set stored = {} -%}
  {%- for column in versioned_collapsing.read_table_columns(relation) if column.name != sign -%}
    {%- do stored.update({column.name: column.type}) -%}
  {%- endfor -%}
  {%- do return(stored) -%}
{% endmacro %}
