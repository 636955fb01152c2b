{# Every cancel row equals a state row in every column but the sign. The engine pairs by sorting key and version
   alone: a cancel row that differs in a payload column is taken for one, and takes what it says away from every sum.
   `key` is what the rows pair by, the sorting key when it is not given. #}
{% test cancel_rows_match_state_rows(model, key=none, sign=none, sample=none, recent_partitions=none) %}
{%- set where = config.get('where') -%}
{%- set table = versioned_collapsing.get_signed_table(model, sign, key=key) -%}
{%- set differs = [] -%}
{%- for name in table.columns -%}
  {%- do differs.append('uniqExact(tuple(' ~ adapter.quote(name) ~ ')) > 1') -%}
{%- endfor %}

with leftovers as (
  select
    {{ table.listed }},
    sum({{ table.sign }}) as net_sign
  from {{ table.relation }}
  where {{ versioned_collapsing.get_scope_sql(table, where, sample, recent_partitions) }}
  group by {{ table.listed }}
  having net_sign <> 0
)

select
  toString(tuple({{ table.key }})) as pairs_by,
  -sumIf(net_sign, net_sign < 0) as cancel_rows,
  sumIf(net_sign, net_sign > 0) as state_rows,
  arrayFilter(
    (name, differs) -> differs,
    {{ table.columns | list }},
    [{{ differs | join(', ') }}]
  ) as differing_columns,
  if(
    state_rows = 0,
    'no state row for the cancel row',
    concat('the cancel row differs from the state row in ', arrayStringConcat(differing_columns, ', '))
  ) as failing_condition
from leftovers
group by {{ table.key or 'tuple()' }}
having cancel_rows > 0

{% endtest %}
