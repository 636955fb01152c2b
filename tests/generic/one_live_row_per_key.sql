{# Every entity has one live row or none. If it has two, a cancel row is missing or misplaced. If its signs sum to less
   than zero, a state row is. #}
{% test one_live_row_per_key(model, unique_key, sign=none, sample=none, recent_partitions=none) %}
{%- set where = config.get('where') -%}
{%- set table = versioned_collapsing.read_signed_table(model, sign, key=unique_key) -%}
{%- set partitions = versioned_collapsing.read_recent_partitions(table.relation, recent_partitions) -%}

{% call versioned_collapsing.get_failing_rows_sql(['live_rows', 'failing_condition'], table.names) %}
  select
    {{ table.key }},
    sum({{ table.sign }}) as _dbt_live_rows,
    if(_dbt_live_rows < 0, 'more cancel rows than state rows', 'more than one live row') as _dbt_failing_condition
  from {{ table.relation }}
  where {{ versioned_collapsing.get_scope_sql(table, where, sample, partitions) }}
  group by {{ table.key }}
  having _dbt_live_rows not in (0, 1)
{% endcall %}

{% endtest %}
