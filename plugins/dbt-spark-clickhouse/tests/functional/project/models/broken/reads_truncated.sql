select * from {{ ref('spark_truncated') }}
