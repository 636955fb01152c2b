select * from {{ ref('spark_types') }}
