{# Sums of a collapsing table by group, for a view or for the table of a SummingMergeTree view. The count of live rows
   is always among them: a SummingMergeTree drops rows whose sums are all 0, and would lose a group whose amounts
   are 0.

   `group_by` and `sums` map the names of columns to expressions; a list is of columns that keep their names. The sums
   get their names outside: where they are made, a name may also be that of a column which another one is made of. #}
{% macro signed_sums(relation, group_by, sums, count='live_rows', sign='_sign') %}
  {%- set groups = versioned_collapsing.get_named_expressions(group_by) -%}
  {%- set sums = versioned_collapsing.get_named_expressions(sums) -%}
  select
    {%- for name in groups %}
    _dbt_group_{{ loop.index }} as {{ versioned_collapsing._get_identifier(name) }},
    {%- endfor %}
    {%- for name in sums %}
    _dbt_sum_{{ loop.index }} as {{ versioned_collapsing._get_identifier(name) }},
    {%- endfor %}
    _dbt_live_rows as {{ versioned_collapsing._get_identifier(count) }}
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
