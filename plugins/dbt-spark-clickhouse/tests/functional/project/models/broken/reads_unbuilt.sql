select * from {{ ref('spark_unbuilt') }}
