{# A cancel row is in the partition of its state row. Otherwise no merge removes the two, and whether FINAL does depends
   on its settings. #}
{% test pairs_share_a_partition(model, unique_key, version=none, sign=none, sample=none, recent_partitions=none) %}
{%- set where = config.get('where') -%}
{%- set table = versioned_collapsing.read_signed_table(model, sign, version, unique_key) -%}
{%- set partitions = versioned_collapsing.read_recent_partitions(table.relation, recent_partitions) -%}
{%- set columns = table.key ~ (', ' ~ table.version if table.version else '') -%}

{% call versioned_collapsing.get_failing_rows_sql(['states_in', 'cancels_in', 'failing_condition'], table.names) %}
  with _dbt_by_partition as (
    select
      {{ columns }},
      _partition_id as _dbt_partition_id,
      sum({{ table.sign }}) as _dbt_net_sign
    from {{ table.relation }}
    where {{ versioned_collapsing.get_scope_sql(table, where, sample, partitions) }}
    group by {{ columns }}, _dbt_partition_id
    having _dbt_net_sign <> 0
  )

  select
    {{ columns }},
    groupArrayIf(_dbt_partition_id, _dbt_net_sign > 0) as _dbt_states_in,
    groupArrayIf(_dbt_partition_id, _dbt_net_sign < 0) as _dbt_cancels_in,
    concat(
      'a state row in partition ', arrayStringConcat(_dbt_states_in, ', '),
      ' and its cancel row in ', arrayStringConcat(_dbt_cancels_in, ', ')
    ) as _dbt_failing_condition
  from _dbt_by_partition
  group by {{ columns }}
  having notEmpty(_dbt_states_in) and notEmpty(_dbt_cancels_in)
{% endcall %}

{% endtest %}
