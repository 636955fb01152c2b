{# The problems with control columns: a name in `_unset` that is not a column, and a count below zero. #}
{% macro _control_problems_sql(options, columns) %}
  {%- set problems = [] -%}
  {%- if '_unset' in columns.given -%}
    {%- set names = (columns.names + columns.given) | unique(case_sensitive=true) -%}
    {%- set known = '[' ~ versioned_collapsing.quote_literals(names) ~ ']' -%}
    {%- do problems.append(
        "arrayMap(_dbt_name -> '_unset names ' || _dbt_name || ', which is not a column', "
        ~ 'arrayFilter(_dbt_name -> not has(' ~ known ~ ', _dbt_name), _dbt_given._unset))'
    ) -%}
  {%- endif -%}
  {%- for name in versioned_collapsing.get_carried_count_names() + ['_batch'] if name in columns.given -%}
    {%- set count = '_dbt_given.' ~ adapter.quote(name) -%}
    {%- do problems.append(
        'if(ifNull(' ~ count ~ ' < 0, false), [' ~ versioned_collapsing.quote_literal(name ~ ' is below zero')
        ~ '], emptyArrayString())'
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
