{# A column of the change set as the target stores it. Values that do not fit become defaults here and
   problems in get_problem_sql, so that no row is lost or altered in silence. #}
{% macro get_cast_sql(column) %}
  {%- if column.given_type is none -%}
    {%- do return('defaultValueOfTypeName(' ~ versioned_collapsing.quote_literal(column.type) ~ ')') -%}
  {%- endif -%}
  {%- set given = '_dbt_given.' ~ adapter.quote(column.name) -%}
  {%- do return(versioned_collapsing._cast_sql(given, column.given_type, column.type, 1)) -%}
{% endmacro %}


{# A column of the change set, or null where its value does not fit. #}
{% macro get_fitting_sql(column) %}
  {%- set given = '_dbt_given.' ~ adapter.quote(column.name) -%}
  {%- if versioned_collapsing.get_base_type(column.given_type) == versioned_collapsing.get_base_type(column.type) -%}
    {%- do return(given) -%}
  {%- endif -%}
  {%- set cast = versioned_collapsing._cast_or_null_sql(given, column.given_type, column.type, 1) -%}
  {%- set fits = versioned_collapsing._fits_sql(given, cast, column.given_type, column.type, 1) -%}
  {%- do return('if(ifNull(' ~ fits ~ ', false), ' ~ cast ~ ', null)') -%}
{% endmacro %}
