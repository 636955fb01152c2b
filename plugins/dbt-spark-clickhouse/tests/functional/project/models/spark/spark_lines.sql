select value as line from {{ source('landing', 'lines') }}
