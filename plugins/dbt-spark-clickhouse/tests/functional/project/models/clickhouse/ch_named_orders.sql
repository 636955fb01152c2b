{{ config(materialized='ephemeral') }}

select orders.order_id, orders.amount, countries.name
from {{ ref('ch_orders') }} as orders
inner join {{ ref('countries') }} as countries on orders.country = countries.code
