{{ config(unique_key='order_id', meta={'order_by': 'order_id'}) }}

select * from {{ ref('order_wishes_changes') }}
