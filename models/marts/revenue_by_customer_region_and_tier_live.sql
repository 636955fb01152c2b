{{ config(materialized='versioned_collapsing_view', meta={'order_by': ['region', 'tier']}) }}

{%- set signs = ['o._sign', 'c._sign'] %}

select
  c.region as region,
  c.tier as tier,
  {{ signed_sum('o.amount', signs) }} as revenue,
  {{ signed_count(signs) }} as orders
from {{ ref('orders') }} as o
inner join {{ ref('customers') }} as c on o.customer_id = c.customer_id
group by c.region, c.tier
