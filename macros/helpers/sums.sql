{# Sums by group. `groups` and `sums` are pairs of a name, quoted if necessary, and an expression. The sums get their
   names in the outer select: in the inner one, a name could be the same as that of a column that another sum uses. #}
{% macro get_sums_sql(relation, groups, sums) %}
  select
    {%- for name, _ in groups %}
    _dbt_group_{{ loop.index }} as {{ name }},
    {%- endfor %}
    {%- for name, _ in sums %}
    _dbt_sum_{{ loop.index }} as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
  from (
    select
      {%- for _, expression in groups %}
      {{ expression }} as _dbt_group_{{ loop.index }},
      {%- endfor %}
      {%- for _, expression in sums %}
      {{ expression }} as _dbt_sum_{{ loop.index }}{{ ',' if not loop.last }}
      {%- endfor %}
    from {{ relation }}
    {%- if groups %}
    group by {% for _ in groups %}_dbt_group_{{ loop.index }}{{ ', ' if not loop.last }}{% endfor %}
    {%- endif %}
  )
{%- endmacro %}
