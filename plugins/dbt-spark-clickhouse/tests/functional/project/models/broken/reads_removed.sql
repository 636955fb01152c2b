select * from {{ ref('spark_removed') }}
