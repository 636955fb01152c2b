select * from {{ ref('spark_partitioned') }}
