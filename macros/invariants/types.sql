{# The types of a truth's columns. None where the table or the truth is not there yet: dbt compiles tests then too. #}
{% macro read_truth_types(table, truth) %}
  {%- if not table.columns -%}{%- do return({}) -%}{%- endif -%}
  {%- if truth is not string and adapter.get_relation(truth.database, truth.schema, truth.identifier) is none -%}
    {%- do return({}) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing.read_types(truth)) -%}
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
