{# Once pairs are removed, every row exists once or not at all. Rows are compared in all columns but the sign. #}
{% test net_sign_is_zero_or_one(model, sign=none, sample=none, recent_partitions=none) %}
{%- set where = config.get('where') -%}
{%- set table = versioned_collapsing.read_signed_table(model, sign) -%}
{%- set partitions = versioned_collapsing.read_recent_partitions(table.relation, recent_partitions) -%}

{% call versioned_collapsing.get_failing_rows_sql(['net_sign', 'failing_condition'], table.names) %}
  select
    {{ table.listed }},
    sum({{ table.sign }}) as _dbt_net_sign,
    if(_dbt_net_sign < 0, 'more cancel rows than state rows', 'the state row is stored more than once')
      as _dbt_failing_condition
  from {{ table.relation }}
  where {{ versioned_collapsing.get_scope_sql(table, where, sample, partitions) }}
  group by {{ table.listed }}
  having _dbt_net_sign not in (0, 1)
{% endcall %}

{% endtest %}
