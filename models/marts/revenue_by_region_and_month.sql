select
  region,
  toStartOfMonth(created_at) as month,
  {{ signed_sum('amount') }} as revenue,
  {{ signed_count() }} as orders
from {{ ref('orders') }}
group by region, month
{{ having_live() }}
