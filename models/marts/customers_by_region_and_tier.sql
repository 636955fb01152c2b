select
  region,
  tier,
  sum(_sign) as customers,
  sum(credit_limit * _sign) as credit_limit
from {{ ref('customers') }}
group by region, tier
having customers <> 0
