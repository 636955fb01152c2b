{# Every cancel row equals a state row in every column but the sign. The engine pairs rows by sorting key and version
   alone. A cancel row with another payload still removes the state row, and every sum is then wrong. `key` is what
   pairs rows; the default is the sorting key. #}
{% test cancel_rows_match_state_rows(model, key=none, sign=none, sample=none, recent_partitions=none) %}
{%- set where = config.get('where') -%}
{%- set table = versioned_collapsing.read_signed_table(model, sign, key=key) -%}
{%- set partitions = versioned_collapsing.read_recent_partitions(table.relation, recent_partitions) -%}
{%- set differs = versioned_collapsing.get_columns_differ(table.columns) -%}
{%- set shown = ['pairs_by', 'cancel_rows', 'state_rows', 'differing_columns', 'failing_condition'] -%}

{% call versioned_collapsing.get_failing_rows_sql(shown, []) %}
  with _dbt_uncollapsed_rows as (
    select
      {{ table.listed }},
      sum({{ table.sign }}) as _dbt_net_sign
    from {{ table.relation }}
    where {{ versioned_collapsing.get_scope_sql(table, where, sample, partitions) }}
    group by {{ table.listed }}
    having _dbt_net_sign <> 0
  )

  select
    toString(tuple({{ table.key }})) as _dbt_pairs_by,
    -sumIf(_dbt_net_sign, _dbt_net_sign < 0) as _dbt_cancel_rows,
    sumIf(_dbt_net_sign, _dbt_net_sign > 0) as _dbt_state_rows,
    {{ versioned_collapsing.get_differing_columns_sql(table.columns, differs) }} as _dbt_differing_columns,
    if(
      _dbt_state_rows = 0,
      'the cancel row has no state row',
      concat('the cancel row differs from the state row in ', arrayStringConcat(_dbt_differing_columns, ', '))
    ) as _dbt_failing_condition
  from _dbt_uncollapsed_rows
  group by {{ table.key or 'tuple()' }}
  having _dbt_cancel_rows > 0
{% endcall %}

{% endtest %}
