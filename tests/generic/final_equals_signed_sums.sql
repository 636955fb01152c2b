{# `FINAL` with sign 1 returns the rows that the sums of signs leave, and no other. They differ where a cancel row is
   no copy of its state row, has none, or is in another partition. #}
{% test final_equals_signed_sums(model, sign=none, sample=none, recent_partitions=none) %}
{%- set where = config.get('where') -%}
{%- set table = versioned_collapsing.get_signed_table(model, sign) -%}
{%- set scope = versioned_collapsing.get_scope_sql(table, where, sample, recent_partitions) %}

with both_ways as (
  select
    {{ table.listed }},
    toInt64({{ table.sign }}) as signed,
    toInt64(0) as by_final
  from {{ table.relation }}
  where {{ scope }}

  union all

  -- FINAL because it is what is tested.
  select
    {{ table.listed }},
    toInt64(0) as signed,
    toInt64(1) as by_final
  from {{ table.relation }} final
  where {{ table.sign }} = 1 and {{ scope }}
)

select
  {{ table.listed }},
  sum(signed) as net_sign,
  sum(by_final) as rows_of_final,
  if(net_sign < rows_of_final, 'FINAL returns it, signed sums do not', 'signed sums leave it, FINAL does not return it')
    as failing_condition
from both_ways
group by {{ table.listed }}
having net_sign <> rows_of_final

{% endtest %}
