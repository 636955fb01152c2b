{# The columns of a lake table in a select. #}
{% macro get_lake_columns_sql(columns) -%}
  {%- for name in columns -%}
    {{ adapter.quote(name) }}{{ ', ' if not loop.last }}
  {%- endfor -%}
{%- endmacro %}
