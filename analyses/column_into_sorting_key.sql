{{ config(enabled=project_name == 'versioned_collapsing') }}

-- What if a column became part of ORDER BY? Whether it can, how much a query that filters by it would skip, and how
-- many updates would move their row to another place of the sorting key. Only rows that no merge has removed yet show
-- updates.
{% set candidate = var('candidate', 'status') %}

with by_order as (
  select
    order_id,
    uniqExact({{ candidate }}) as places, -- noqa: VC02
    uniqExact(_version) as changes -- noqa: VC02
  from {{ ref('orders') }}
  group by order_id
),

candidate as (
  select
    any(toTypeName({{ candidate }})) as column_type, -- noqa: VC02
    uniqExact({{ candidate }}) as distinct_values -- noqa: VC02
  from {{ ref('orders') }}
)

select
  '{{ candidate }}' as candidate_column,
  any(candidate.column_type) as candidate_type,
  multiIf(
    candidate_type like '%Nullable%', 'with allow_nullable_key; IN passes over its nulls',
    candidate_type like '%Float%', 'no: 0.0 and -0.0 pair, and are two values',
    'yes'
  ) as can_be,
  round(1 / any(candidate.distinct_values), 4) as share_read_for_one_value,
  count() as all_orders,
  sum(by_order.changes - 1) as updates_in_sight,
  sum(by_order.places - 1) as updates_that_would_move,
  countIf(by_order.places > 1) as orders_that_would_move
from by_order
cross join candidate
