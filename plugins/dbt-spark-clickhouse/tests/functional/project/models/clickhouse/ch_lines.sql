select * from {{ ref('spark_lines') }}
