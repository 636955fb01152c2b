{# The names of the columns of which a row of the truth has more than its cast. #}
{% macro get_lost_columns_sql(columns) %}
  {%- set lost = [] -%}
  {%- for column in columns -%}
    {%- set condition = versioned_collapsing._get_is_lost_sql(column) -%}
    {%- if condition != 'false' -%}
      {%- do lost.append('if(' ~ condition ~ ', ' ~ versioned_collapsing.quote_literal(column.name) ~ ", '')") -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set names = "arrayFilter(_dbt_name -> _dbt_name <> '', [" ~ lost | join(', ') ~ "])" -%}
  {%- do return(names if lost else 'emptyArrayString()') -%}
{% endmacro %}
