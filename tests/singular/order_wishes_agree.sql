{{ config(enabled=project_name == 'versioned_collapsing' and target.name != 'cluster') }}

-- Every order has one wish, with the order's version. The wish of an order without a note is 'none'.
with wishes as (
  select * from {{ live_rows(ref('order_wishes')) }}
)

select
  o.order_id,
  w.wish
from {{ ref('orders_live') }} as o
full outer join wishes as w on o.order_id = w.order_id
where
  o.order_id <> w.order_id
  or o._version <> w._version
  or (coalesce(o.note, '') = '') <> (w.wish = 'none')
