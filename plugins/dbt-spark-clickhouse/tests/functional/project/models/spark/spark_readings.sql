select * from {{ source('landing', 'readings') }}
