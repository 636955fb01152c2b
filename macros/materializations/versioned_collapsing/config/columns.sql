{# The columns of the table and how the change set fills them, as describe_columns returns them.

   Declared data types (the contract, or `data_type` in the properties file) win; the others are
   those of the change set. Columns of the key, the version, ORDER BY and PARTITION BY lose
   Nullable: a null there stops the run. #}
{% macro get_versioned_collapsing_columns(options, given, declared) %}
  {%- set not_stored = versioned_collapsing.get_control_columns(options) + [options.sign] -%}
  {%- set names = given | map(attribute='name') | list -%}
  {%- set table = [] -%}
  {%- for column in given if column.name not in not_stored -%}
    {%- set type = declared.get(column.name) or versioned_collapsing._stored_type(column, options, names) -%}
    {%- do table.append({'name': column.name, 'type': type, 'given_type': column.type}) -%}
  {%- endfor -%}
  {%- do return(versioned_collapsing.describe_columns(options, table, names)) -%}
{% endmacro %}


{% macro _stored_type(column, options, names) %}
  {%- if not versioned_collapsing.is_required_column(column.name, options, names) -%}
    {%- do return(column.type) -%}
  {%- endif -%}
  {%- set base = versioned_collapsing.get_base_type(column.type) -%}
  {%- do return('LowCardinality(' ~ base ~ ')' if column.type.startswith('LowCardinality(') else base) -%}
{% endmacro %}
