{{ config(materialized='versioned_collapsing_view', meta={'order_by': 'status'}) }}

{%- set signs = ['i._sign', 'o._sign'] %}

select
  o.status as status,
  {{ signed_sum('i.quantity', signs) }} as quantity,
  {{ signed_sum('i.quantity * i.unit_price', signs) }} as amount,
  {{ signed_count(signs) }} as order_lines
from {{ ref('order_items') }} as i
inner join {{ ref('orders') }} as o on i.order_id = o.order_id
group by o.status
