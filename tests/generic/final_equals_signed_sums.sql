{# `FINAL` with sign 1 returns exactly the rows that remain by their sums of signs. The two differ if a cancel row is
   missing, is not a copy of its state row, or is in another partition. #}
{% test final_equals_signed_sums(model, sign=none, sample=none, recent_partitions=none) %}
{%- set where = config.get('where') -%}
{%- set table = versioned_collapsing.read_signed_table(model, sign) -%}
{%- set partitions = versioned_collapsing.read_recent_partitions(table.relation, recent_partitions) -%}
{%- set scope = versioned_collapsing.get_scope_sql(table, where, sample, partitions) -%}

{% call versioned_collapsing.get_failing_rows_sql(['net_sign', 'rows_of_final', 'failing_condition'], table.names) %}
  with _dbt_both_ways as (
    select
      {{ table.listed }},
      toInt64({{ table.sign }}) as _dbt_signed,
      toInt64(0) as _dbt_by_final
    from {{ table.relation }}
    where {{ scope }}

    union all

    -- FINAL, because the test is about it.
    select
      {{ table.listed }},
      toInt64(0) as _dbt_signed,
      toInt64(1) as _dbt_by_final
    from {{ table.relation }} final
    where {{ table.sign }} = 1 and {{ scope }}
  )

  select
    {{ table.listed }},
    sum(_dbt_signed) as _dbt_net_sign,
    sum(_dbt_by_final) as _dbt_rows_of_final,
    if(
      _dbt_net_sign < _dbt_rows_of_final,
      'FINAL returns the row, but signed sums do not',
      'signed sums return the row, but FINAL does not'
    ) as _dbt_failing_condition
  from _dbt_both_ways
  group by {{ table.listed }}
  having _dbt_net_sign <> _dbt_rows_of_final
{% endcall %}

{% endtest %}
