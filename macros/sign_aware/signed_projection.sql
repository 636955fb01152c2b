{# The same sums as an aggregating projection, for the option `projections` of the table's model. Queries that spell
   groups and sums as these macros do are answered from it. #}
{% macro signed_projection(name, group_by, sums, sign='_sign') %}
  {%- set columns = versioned_collapsing.get_projected_columns(group_by, sums, sign) -%}
  {%- set grouping = ' group by ' ~ columns.groups | join(', ') if columns.groups else '' -%}
  {%- do return({'name': name, 'query': 'select ' ~ columns.all | join(', ') ~ grouping}) -%}
{% endmacro %}


{# The expressions of such a projection: `groups`, and `all` in the order of its columns. #}
{% macro get_projected_columns(group_by, sums, sign) %}
  {%- set groups = versioned_collapsing.get_named_expressions(group_by).values() | list -%}
  {%- set totals = [] -%}
  {%- for expression in versioned_collapsing.get_named_expressions(sums).values() -%}
    {%- do totals.append(versioned_collapsing.signed_sum(expression, sign)) -%}
  {%- endfor -%}
  {%- do return({'groups': groups, 'all': groups + totals + [versioned_collapsing.signed_count(sign)]}) -%}
{% endmacro %}
