{{ config(
    materialized='materialized_view',
    engine='SummingMergeTree()',
    order_by='(region, month)',
) }}

-- `orders` keeps the groups whose amounts are all 0; without it they would vanish in a merge.
select
  region,
  toStartOfMonth(created_at) as month,
  sum(amount * _sign) as revenue,
  sum(_sign) as orders
from {{ ref('orders') }}
group by region, month
