select * from {{ ref('spark_doubled') }}
