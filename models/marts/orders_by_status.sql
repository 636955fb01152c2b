select
  status,
  {{ signed_count() }} as orders,
  {{ signed_sum('amount') }} as amount,
  {{ signed_sum('items') }} as items
from {{ ref('orders') }}
group by status
{{ having_live() }}
