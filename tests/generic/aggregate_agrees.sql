{# What an aggregate says of every group is what the table says: `aggregate` is a view, or the table of a SummingMergeTree
   view; or `projection` names an aggregating projection of the table itself, of which the stored sums are compared.
   `group_by` and `sums` map the aggregate's columns to expressions of the table, `count` is its column with the count
   of live rows. `where` is of the columns in `group_by`, and sampling by them. #}
{% test aggregate_agrees(model, group_by, sums, count='live_rows', aggregate=none, projection=none, sign=none, sample=none, recent_partitions=none) %}
{%- if (aggregate is none) == (projection is none) -%}
  {%- do exceptions.raise_compiler_error("aggregate_agrees: give either `aggregate`, a relation, or `projection`, the name of a projection.") -%}
{%- endif -%}
{%- set where = config.get('where') or 'true' -%}
{%- set groups = versioned_collapsing._named(group_by) -%}
{%- set measures = versioned_collapsing._named(sums).keys() | list + [count] -%}
{%- set key = groups | join(', ') -%}
{%- set table = versioned_collapsing.get_signed_table(model, sign) -%}
{%- set differs = [] -%}
{%- for name in measures -%}
  {%- do differs.append('not (sumIf(' ~ name ~ ', of_table) <=> sumIf(' ~ name ~ ', not of_table))') -%}
{%- endfor %}

with from_table as (
  {{ versioned_collapsing.signed_sums(versioned_collapsing.get_rows_without_projections(table), groups, sums, count, table.sign) }}
),

from_aggregate as (
  {%- if projection is none %}
  select
    {{ key }},
    {%- for name in measures %}
    sum(kept.{{ name }}) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
  from {{ aggregate }} as kept
  group by {{ key }}
  {%- else %}
  {{ versioned_collapsing.get_projection_sums_sql(table, projection, groups, sums, count) }}
  {%- endif %}
),

both as (
  select {{ key }}, {{ measures | join(', ') }}, true as of_table from from_table where {{ count }} <> 0
  union all
  select {{ key }}, {{ measures | join(', ') }}, false as of_table from from_aggregate where {{ count }} <> 0
)

select
  {{ key }},
  {%- for name in measures %}
  sumIf({{ name }}, of_table) as {{ name }}_of_table,
  sumIf({{ name }}, not of_table) as {{ name }}_of_aggregate,
  {%- endfor %}
  arrayFilter((name, differs) -> differs, {{ measures }}, [{{ differs | join(', ') }}]) as differing_columns,
  multiIf(
    countIf(of_table) = 0, 'the aggregate has the group, the table has not',
    countIf(not of_table) = 0, 'the table has the group, the aggregate has not',
    concat('the aggregate has other values: ', arrayStringConcat(differing_columns, ', '))
  ) as failing_condition
from both
where {{ where }}
  and {{ versioned_collapsing.get_keys_in_scope_sql(table, key, groups.values() | join(', '), sample, recent_partitions) }}
group by {{ key }}
having notEmpty(differing_columns)

{% endtest %}
