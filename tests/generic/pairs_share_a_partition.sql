{# The cancel row of a state row is in its partition. In another one the two never meet: no merge takes them away,
   and FINAL may or may not, by its settings. #}
{% test pairs_share_a_partition(model, unique_key, version=none, sign=none, sample=none, recent_partitions=none) %}
{%- set where = config.get('where') -%}
{%- set table = versioned_collapsing.get_signed_table(model, sign, version, unique_key) -%}
{%- set columns = table.key ~ (', ' ~ table.version if table.version else '') %}

with by_partition as (
  select
    {{ columns }},
    _partition_id as partition_id,
    sum({{ table.sign }}) as net_sign
  from {{ table.relation }}
  where {{ versioned_collapsing.get_scope_sql(table, where, sample, recent_partitions) }}
  group by {{ columns }}, partition_id
  having net_sign <> 0
)

select
  {{ columns }},
  groupArrayIf(partition_id, net_sign > 0) as states_in,
  groupArrayIf(partition_id, net_sign < 0) as cancels_in,
  concat(
    'a state row in partition ', arrayStringConcat(states_in, ', '),
    ' and its cancel row in ', arrayStringConcat(cancels_in, ', ')
  ) as failing_condition
from by_partition
group by {{ columns }}
having notEmpty(states_in) and notEmpty(cancels_in)

{% endtest %}
