{{ config(enabled=project_name == 'versioned_collapsing' and target.name == 'embedded') }}

-- The view, the table of sums and PostgreSQL agree on every region and month, if PostgreSQL's state is known.
with from_view as (
  select
    'view' as place,
    region,
    month,
    revenue,
    orders
  from {{ ref('revenue_by_region_and_month') }}
),

from_sums as (
  select
    'table of sums' as place,
    kept.region,
    kept.month,
    sum(kept.revenue) as revenue,
    sum(kept.orders) as orders
  from {{ ref('revenue_by_region_and_month_live') }} as kept
  group by kept.region, kept.month
  having orders <> 0
),

from_postgresql as (
  select
    'PostgreSQL' as place,
    region,
    toStartOfMonth(created_at) as month,
    sum(amount) as revenue,
    toInt64(count()) as orders
  from {{ ref('postgresql_orders') }}
  group by region, month
),

everywhere as (
  select * from from_view
  union all
  select * from from_sums
  union all
  select * from from_postgresql
)

select
  region,
  month,
  revenue,
  orders,
  groupArray(place) as places
from everywhere
group by region, month, revenue, orders
having length(places) <> 2 + (select count() > 0 from from_postgresql)
