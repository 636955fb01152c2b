{# The names of those columns that differ, of which `differs` has the conditions. #}
{% macro get_differing_columns_sql(names, differs) %}
  {%- do return(
      "arrayFilter((_dbt_name, _dbt_differs) -> _dbt_differs, ["
      ~ versioned_collapsing.quote_literals(names) ~ "], [" ~ differs | join(', ') ~ "])"
  ) -%}
{% endmacro %}


{# The conditions that columns have more than one value, nulls counted. #}
{% macro get_columns_differ(names) %}
  {%- set differs = [] -%}
  {%- for name in names -%}
    {%- do differs.append('uniqExact(tuple(' ~ versioned_collapsing.quote_name(name) ~ ')) > 1') -%}
  {%- endfor -%}
  {%- do return(differs) -%}
{% endmacro %}
