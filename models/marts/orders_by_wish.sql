select
  wish,
  {{ signed_count() }} as orders
from {{ ref('order_wishes') }}
group by wish
{{ having_live() }}
