{# An array of the problems with columns that share one condition over `_dbt_value`, `_dbt_cast` and `_dbt_name`. #}
{% macro _named_problems_sql(table, problem, templates, condition) %}
  {%- set arrays = [] -%}
  {%- for template in templates -%}
    {%- set values = [] -%}
    {%- for column in table -%}
      {%- do values.append(template | replace('{}', '_dbt_given.' ~ adapter.quote(column.name))) -%}
    {%- endfor -%}
    {%- do arrays.append('[' ~ values | join(', ') ~ ']') -%}
  {%- endfor -%}
  {%- set arguments = ['_dbt_name', '_dbt_value', '_dbt_cast'][: templates | length + 1] | join(', ') -%}
  {%- set names = '[' ~ versioned_collapsing.quote_literals(table | map(attribute='name')) ~ ']' -%}
  {%- do return(
      'arrayMap(_dbt_name -> _dbt_name || ' ~ versioned_collapsing.quote_literal(problem) ~ ', arrayFilter(('
      ~ arguments
      ~ ') -> ' ~ condition ~ ', ' ~ names ~ ', ' ~ arrays | join(', ') ~ '))'
  ) -%}
{% endmacro %}
