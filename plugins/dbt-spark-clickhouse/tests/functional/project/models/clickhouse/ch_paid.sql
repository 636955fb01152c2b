{{ config(materialized='ephemeral') }}

select o.order_id, o.amount, c.name
from {{ ref('ch_orders') }} as o
inner join {{ ref('countries') }} as c on o.country = c.code
