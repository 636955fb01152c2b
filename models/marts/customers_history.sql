select * from {{ versions(ref('customers')) }}
