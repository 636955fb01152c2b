-- The view, the materialized view and the table behind them say the same of every region and month.
with from_table as (
  select
    region,
    toStartOfMonth(created_at) as month,
    sum(amount * _sign) as revenue,
    sum(_sign) as orders
  from {{ ref('orders') }}
  group by region, month
  having orders <> 0
),

from_view as (
  select
    region,
    month,
    revenue,
    orders
  from {{ ref('revenue_by_region_and_month') }}
),

from_materialized_view as (
  select
    kept.region,
    kept.month,
    sum(kept.revenue) as revenue,
    sum(kept.orders) as orders
  from {{ ref('revenue_by_region_and_month_live') }} as kept
  group by kept.region, kept.month
  having orders <> 0
),

everywhere as (
  select * from from_table
  union all
  select * from from_view
  union all
  select * from from_materialized_view
)

select
  region,
  month,
  revenue,
  orders,
  count() as places
from everywhere
group by region, month, revenue, orders
having places <> 3
