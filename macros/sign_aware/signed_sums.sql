{# Sums of a collapsing table by group, for a view or for the table of a SummingMergeTree view. The count of live rows
   is always among them: a SummingMergeTree drops rows whose sums are all 0, and would lose a group whose amounts
   are 0.

   `group_by` and `sums` map the names of columns to expressions; a list is of columns that keep their names. The sums
   get their names outside: where they are made, a name may also be that of a column which another one is made of. #}
{% macro signed_sums(relation, group_by, sums, count='live_rows', sign='_sign') %}
  {%- set groups = versioned_collapsing._named(group_by) -%}
  {%- set sums = versioned_collapsing._named(sums) -%}
  select
    {%- for name in groups %}
    _dbt_group_{{ loop.index }} as {{ versioned_collapsing._identifier(name) }},
    {%- endfor %}
    {%- for name in sums %}
    _dbt_sum_{{ loop.index }} as {{ versioned_collapsing._identifier(name) }},
    {%- endfor %}
    _dbt_live_rows as {{ versioned_collapsing._identifier(count) }}
  from (
    select
      {%- for expression in groups.values() %}
      {{ expression }} as _dbt_group_{{ loop.index }},
      {%- endfor %}
      {%- for expression in sums.values() %}
      {{ versioned_collapsing.signed_sum(expression, sign) }} as _dbt_sum_{{ loop.index }},
      {%- endfor %}
      {{ versioned_collapsing.signed_count(sign) }} as _dbt_live_rows
    from {{ relation }}
    {%- if groups %}
    group by {% for name in groups %}_dbt_group_{{ loop.index }}{{ ', ' if not loop.last }}{% endfor %}
    {%- endif %}
  )
{%- endmacro %}


{# The same sums as an aggregating projection, for the option `projections` of the table's model. Queries that spell
   groups and sums as these macros do are answered from it. #}
{% macro signed_projection(name, group_by, sums, sign='_sign') %}
  {%- set columns = versioned_collapsing.get_projected_columns(group_by, sums, sign) -%}
  {%- do return({'name': name, 'query': 'select ' ~ columns.all | join(', ') ~ (' group by ' ~ columns.groups | join(', ') if columns.groups else '')}) -%}
{% endmacro %}


{# The expressions of such a projection: `groups`, and `all` in the order of its columns. #}
{% macro get_projected_columns(group_by, sums, sign) %}
  {%- set groups = versioned_collapsing._named(group_by).values() | list -%}
  {%- set totals = [] -%}
  {%- for expression in versioned_collapsing._named(sums).values() -%}
    {%- do totals.append(versioned_collapsing.signed_sum(expression, sign)) -%}
  {%- endfor -%}
  {%- do return({'groups': groups, 'all': groups + totals + [versioned_collapsing.signed_count(sign)]}) -%}
{% endmacro %}


{# A mapping as it is; of a name or a list of names, each with the column of that name. #}
{% macro _named(columns) %}
  {%- if columns is mapping -%}{%- do return(columns) -%}{%- endif -%}
  {%- set named = {} -%}
  {%- for name in ([] if columns is none else [columns] if columns is string else columns) -%}
    {%- do named.update({name: versioned_collapsing._identifier(name)}) -%}
  {%- endfor -%}
  {%- do return(named) -%}
{% endmacro %}
