select * from {{ live_rows(ref('customers')) }}
