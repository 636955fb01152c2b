select order_id from {{ ref('spark_orders') }} where country = 'JP'
