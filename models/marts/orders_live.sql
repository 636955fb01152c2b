select * from {{ live_rows(ref('orders')) }}
