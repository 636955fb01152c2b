{# Sums of a collapsing table by group, for a view or for the table of a SummingMergeTree view. The count of live rows
   is always among them: a SummingMergeTree drops rows whose sums are all 0, and would lose a group whose amounts
   are 0.

   `group_by` and `sums` map the names of columns to expressions; a list is of columns that keep their names. #}
{% macro signed_sums(relation, group_by, sums, count='live_rows', sign='_sign') %}
  {%- set groups = versioned_collapsing._named(group_by) -%}
  select
    {%- for name, expression in groups.items() %}
    {{ versioned_collapsing._as(expression, name) }},
    {%- endfor %}
    {%- for name, expression in versioned_collapsing._named(sums).items() %}
    {{ versioned_collapsing.signed_sum(expression, sign) }} as {{ name }},
    {%- endfor %}
    {{ versioned_collapsing.signed_count(sign) }} as {{ count }}
  from {{ relation }}
  group by {{ groups | join(', ') }}
{%- endmacro %}


{# The same sums as an aggregating projection, for the option `projections` of the table's model. Queries that spell
   groups and sums as these macros do are answered from it. #}
{% macro signed_projection(name, group_by, sums, sign='_sign') %}
  {%- set groups = versioned_collapsing._named(group_by).values() | list -%}
  {%- set totals = [] -%}
  {%- for expression in versioned_collapsing._named(sums).values() -%}
    {%- do totals.append(versioned_collapsing.signed_sum(expression, sign)) -%}
  {%- endfor -%}
  {%- set columns = groups + totals + [versioned_collapsing.signed_count(sign)] -%}
  {%- do return({'name': name, 'query': 'select ' ~ columns | join(', ') ~ ' group by ' ~ groups | join(', ')}) -%}
{% endmacro %}


{% macro _as(expression, name) -%}
  {{ expression if expression == name else expression ~ ' as ' ~ name }}
{%- endmacro %}


{# A mapping as it is; of a name or a list of names, each with itself. #}
{% macro _named(columns) %}
  {%- if columns is mapping -%}{%- do return(columns) -%}{%- endif -%}
  {%- set named = {} -%}
  {%- for name in ([columns] if columns is string else columns) -%}
    {%- do named.update({name: name}) -%}
  {%- endfor -%}
  {%- do return(named) -%}
{% endmacro %}
