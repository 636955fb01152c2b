select * from {{ ref('spark_orders_view') }}
