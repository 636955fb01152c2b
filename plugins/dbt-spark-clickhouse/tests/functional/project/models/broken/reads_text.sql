select * from {{ source('landing', 'lines') }}
