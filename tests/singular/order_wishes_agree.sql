{{ config(enabled=project_name == 'versioned_collapsing' and target.name != 'cluster') }}

-- Every order has its wish, of its last version, and an order without a note has none.
select
  o.order_id,
  w.wish
from {{ ref('orders_live') }} as o
full outer join (select * from {{ ref('order_wishes') }} final where _sign = 1) as w on o.order_id = w.order_id
where o.order_id <> w.order_id
  or o._version <> w._version
  or (ifNull(o.note, '') = '') <> (w.wish = 'none')
