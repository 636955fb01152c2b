select
  status,
  {{ signed_count('live_rows') }} as orders,
  {{ signed_sum('amount', 'live_rows') }} as total_amount,
  {{ multiset_median('amount') }} as median_amount,
  {{ multiset_max('amount') }} as largest_amount
from {{ multiset(ref('order_amounts_live'), ['status', 'amount']) }}
group by status
