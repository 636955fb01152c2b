{{ config(enabled=project_name == 'versioned_collapsing' and target.name == 'embedded') }}

-- The view, the table of sums and PostgreSQL agree on every region and tier, if PostgreSQL's state is known.
with from_view as (
  select
    'view' as place,
    region,
    tier,
    credit_limit,
    customers
  from {{ ref('customers_by_region_and_tier') }}
),

from_sums as (
  select
    'table of sums' as place,
    kept.region,
    kept.tier,
    sum(kept.credit_limit) as credit_limit,
    sum(kept.customers) as customers
  from {{ ref('customers_by_region_and_tier_live') }} as kept
  group by kept.region, kept.tier
  having customers <> 0
),

from_postgresql as (
  select
    'PostgreSQL' as place,
    region,
    tier,
    sum(credit_limit) as credit_limit,
    toInt64(count()) as customers
  from {{ ref('postgresql_customers') }}
  group by region, tier
),

everywhere as (
  select * from from_view
  union all
  select * from from_sums
  union all
  select * from from_postgresql
)

select
  region,
  tier,
  credit_limit,
  customers,
  groupArray(place) as places
from everywhere
group by region, tier, credit_limit, customers
having length(places) <> 2 + (select count() > 0 from from_postgresql)
