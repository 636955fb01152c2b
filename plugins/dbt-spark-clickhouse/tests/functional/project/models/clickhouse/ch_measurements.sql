select * from {{ ref('measurements') }}
