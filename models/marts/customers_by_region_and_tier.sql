select
  region,
  tier,
  {{ signed_count() }} as customers,
  {{ signed_sum('credit_limit') }} as credit_limit
from {{ ref('customers') }}
group by region, tier
{{ having_live() }}
