select * from {{ ref('spark_orders') }} where false
