{{ config(enabled=project_name == 'versioned_collapsing' and target.name == 'embedded') }}

-- The view of the join and PostgreSQL agree on every region and tier, if PostgreSQL's state is known.
with from_sums as (
  select
    'table of sums' as place,
    kept.region,
    kept.tier,
    sum(kept.revenue) as revenue,
    sum(kept.orders) as orders
  from {{ ref('revenue_by_customer_region_and_tier_live') }} as kept
  group by kept.region, kept.tier
  having orders <> 0
),

from_postgresql as (
  select
    'PostgreSQL' as place,
    c.region,
    c.tier,
    sum(o.amount) as revenue,
    toInt64(count()) as orders
  from {{ ref('postgresql_orders') }} as o
  inner join {{ ref('postgresql_customers') }} as c on o.customer_id = c.customer_id
  group by c.region, c.tier
),

everywhere as (
  select * from from_sums
  union all
  select * from from_postgresql
)

select
  region,
  tier,
  revenue,
  orders,
  groupArray(place) as places
from everywhere
group by region, tier, revenue, orders
having length(places) <> 1 + (select count() > 0 from from_postgresql)
