{{ config(materialized='table', order_by='status') }}

select
  status,
  sum(_sign) as orders,
  sum(amount * _sign) as amount,
  sum(items * _sign) as items
from {{ ref('orders') }}
group by status
having orders <> 0
