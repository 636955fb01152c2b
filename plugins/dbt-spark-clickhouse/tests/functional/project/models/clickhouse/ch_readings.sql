select readings.sensor as sensor, readings.reading as reading, countries.name as country
from {{ source('landing', 'readings') }} as readings
left join {{ ref('countries') }} as countries on readings.country = countries.code
settings join_use_nulls = 1
