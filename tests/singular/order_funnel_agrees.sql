{{ config(enabled=project_name == 'versioned_collapsing' and target.name == 'embedded') }}

-- The view, the table of sums and PostgreSQL agree on every status, if PostgreSQL's state is known.
with from_view as (
  select
    'view' as place,
    status,
    amount,
    items,
    orders
  from {{ ref('orders_by_status') }}
),

from_sums as (
  select
    'table of sums' as place,
    kept.status,
    sum(kept.amount) as amount,
    sum(kept.items) as items,
    sum(kept.orders) as orders
  from {{ ref('orders_by_status_live') }} as kept
  group by kept.status
  having orders <> 0
),

from_postgresql as (
  select
    'PostgreSQL' as place,
    status,
    sum(amount) as amount,
    sum(items) as items,
    toInt64(count()) as orders
  from {{ ref('postgresql_orders') }}
  group by status
),

everywhere as (
  select * from from_view
  union all
  select * from from_sums
  union all
  select * from from_postgresql
)

select
  status,
  amount,
  items,
  orders,
  groupArray(place) as places
from everywhere
group by status, amount, items, orders
having length(places) <> 2 + (select count() > 0 from from_postgresql)
