{{ config(enabled=project_name == 'versioned_collapsing' and target.name == 'embedded') }}

-- The medians from the counts by amount, from the live rows and from PostgreSQL are the same for every status, if
-- PostgreSQL's state is known.
with from_counts as (
  select
    'counts by amount' as place,
    status,
    median_amount,
    largest_amount,
    orders
  from {{ ref('order_funnel') }}
),

from_live_rows as (
  select
    'live rows' as place,
    status,
    quantileExactInclusive(toFloat64(amount)) as median_amount,
    max(amount) as largest_amount,
    toInt64(count()) as orders
  from {{ ref('orders_live') }}
  group by status
),

from_postgresql as (
  select
    'PostgreSQL' as place,
    status,
    quantileExactInclusive(toFloat64(amount)) as median_amount,
    max(amount) as largest_amount,
    toInt64(count()) as orders
  from {{ ref('postgresql_orders') }}
  group by status
),

everywhere as (
  select * from from_counts
  union all
  select * from from_live_rows
  union all
  select * from from_postgresql
)

select
  status,
  median_amount,
  largest_amount,
  orders,
  groupArray(place) as places
from everywhere
group by status, median_amount, largest_amount, orders
having length(places) <> 2 + (select count() > 0 from from_postgresql)
