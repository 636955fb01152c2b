select * from {{ live_rows(ref('order_items')) }}
