{#- `dbt run` builds no seeds. Without `dbt seed`, there are no regions, and all revenue has the currency ''. -#}
{{ config(
    pre_hook=(
        "create table if not exists {{ ref('regions') }} (region LowCardinality(String), name String, "
        ~ "currency LowCardinality(String), units_per_euro Decimal(9, 2)) engine = MergeTree order by tuple()"
    )
) }}

with by_region as (
  select
    region,
    {{ signed_sum('amount') }} as revenue,
    {{ signed_count() }} as orders
  from {{ ref('orders') }}
  group by region
  {{ having_live() }}
)

select
  toLowCardinality(toString(regions.currency)) as currency,
  sum(by_region.orders) as orders,
  sum(by_region.revenue) as revenue
from by_region
left join {{ ref('regions') }} as regions
  on by_region.region = regions.region
group by currency
