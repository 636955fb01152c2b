{{ config(enabled=project_name == 'versioned_collapsing' and target.name == 'embedded') }}

-- The view of the join and PostgreSQL agree on every status, if PostgreSQL's state is known.
with from_sums as (
  select
    'table of sums' as place,
    kept.status,
    sum(kept.quantity) as quantity,
    sum(kept.amount) as amount,
    sum(kept.order_lines) as order_lines
  from {{ ref('items_by_order_status_live') }} as kept
  group by kept.status
  having order_lines <> 0
),

from_postgresql as (
  select
    'PostgreSQL' as place,
    o.status,
    sum(i.quantity) as quantity,
    sum(i.quantity * i.unit_price) as amount,
    toInt64(count()) as order_lines
  from {{ ref('postgresql_order_items') }} as i
  inner join {{ ref('postgresql_orders') }} as o on i.order_id = o.order_id
  group by o.status
),

everywhere as (
  select * from from_sums
  union all
  select * from from_postgresql
)

select
  status,
  quantity,
  amount,
  order_lines,
  groupArray(place) as places
from everywhere
group by status, quantity, amount, order_lines
having length(places) <> 1 + (select count() > 0 from from_postgresql)
