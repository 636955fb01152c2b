select spark.order_id as order_id
from {{ ref('ch_orders') }} as ch
inner join {{ ref('spark_orders') }} as spark on ch.order_id = spark.order_id
where spark.country = 'JP'
