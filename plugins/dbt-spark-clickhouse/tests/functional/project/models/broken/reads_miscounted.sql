select * from {{ ref('spark_miscounted') }}
