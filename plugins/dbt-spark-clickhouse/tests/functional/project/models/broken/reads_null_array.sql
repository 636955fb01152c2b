select * from {{ ref('spark_null_array') }}
