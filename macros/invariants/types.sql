{# The types of a truth's columns. None where the table or the truth is not there yet: dbt compiles tests then too. #}
{% macro read_truth_types(table, truth) %}
  {%- set is_there = table.columns and (truth is string or adapter.get_relation(truth.database, truth.schema, truth.identifier) is not none) -%}
  {%- do return(versioned_collapsing.read_types(truth) if is_there else {}) -%}
{% endmacro %}


{# The types of the columns of what can stand after `from`, by name. #}
{% macro read_types(relation) %}
  {%- set types = {} -%}
  {%- set query = 'describe (select * from ' ~ relation ~ ') ' ~ versioned_collapsing.get_settings_sql() -%}
  {%- for row in run_query(query).rows -%}
    {%- do types.update({row['name']: row['type']}) -%}
  {%- endfor -%}
  {%- do return(types) -%}
{% endmacro %}
