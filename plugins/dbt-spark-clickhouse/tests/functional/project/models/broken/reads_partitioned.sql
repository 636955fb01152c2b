select * from {{ ref('spark_runs') }}
