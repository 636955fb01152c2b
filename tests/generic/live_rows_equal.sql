{# The live rows are the rows of `truth`: a relation, of another engine too, or what can stand after `from`. `columns`
   are compared, all but sign and version when they are not given, as the types of the table. With `sample` and
   `recent_partitions` only keys that the table has there are looked for in the truth; `where` filters both. #}
{% test live_rows_equal(model, truth, unique_key, columns=none, version=none, sign=none, sample=none, recent_partitions=none) %}
{%- set where = config.get('where') or 'true' -%}
{%- set table = versioned_collapsing.get_signed_table(model, sign, version, unique_key) -%}
{%- set compared = versioned_collapsing.get_compared_columns(table, columns) -%}
{%- set quoted = [] -%}
{%- set differs = [] -%}
{%- for name in compared -%}
  {%- do quoted.append(adapter.quote(name)) -%}
  {%- do differs.append('uniqExact(tuple(' ~ adapter.quote(name) ~ ')) > 1') -%}
{%- endfor -%}
{%- set names = quoted | join(', ') %}

with both as (
  select
    {{ names }},
    toInt64({{ table.sign }}) as net
  from {{ table.relation }}
  where {{ where }}

  union all

  select
    {%- for name, type in compared.items() %}
    {{ versioned_collapsing.get_comparable_sql(name, type) }} as {{ adapter.quote(name) }},
    {%- endfor %}
    toInt64(-1) as net
  from (select * from {{ truth }} where {{ where }}) as truth
),

differences as (
  select
    {{ names }},
    sum(net) as surplus
  from both
  where {{ versioned_collapsing.get_keys_in_scope_sql(table, table.key, table.key, sample, recent_partitions) }}
  group by {{ names }}
  having surplus <> 0
)

select
  {{ table.key }},
  sumIf(surplus, surplus > 0) as live_rows,
  -sumIf(surplus, surplus < 0) as true_rows,
  arrayFilter((name, differs) -> differs, {{ compared | list }}, [{{ differs | join(', ') }}]) as differing_columns,
  multiIf(
    true_rows = 0, 'live, and not in the truth',
    live_rows = 0, 'in the truth, and not live',
    concat('other values than in the truth: ', arrayStringConcat(differing_columns, ', '))
  ) as failing_condition
from differences
group by {{ table.key }}

{% endtest %}
