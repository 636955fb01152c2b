{{ config(unique_key=['order_id', 'line_no']) }}

select * from {{ ref('order_items_changes') }}
