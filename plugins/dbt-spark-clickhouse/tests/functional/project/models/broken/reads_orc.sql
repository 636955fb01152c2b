select * from {{ ref('spark_orc') }}
