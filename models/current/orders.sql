{{ config(unique_key='order_id', order_by='order_id', partition_by='toYYYYMM(updated_at)') }}

select * from {{ ref('orders_changes') }}
