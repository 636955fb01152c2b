select * from {{ ref('spark_nothing') }}
