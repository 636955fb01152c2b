select sensor, reading * 2 as doubled from {{ source('landing', 'readings') }}
