{{ config(unique_key='customer_id', order_by=['region', 'customer_id']) }}

select * from {{ ref('customers_changes') }}
