select
  region,
  toStartOfMonth(created_at) as month,
  sum(amount * _sign) as revenue,
  sum(_sign) as orders
from {{ ref('orders') }}
group by region, month
having orders <> 0
