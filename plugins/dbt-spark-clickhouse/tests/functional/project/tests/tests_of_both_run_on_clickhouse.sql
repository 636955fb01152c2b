select order_id, country, amount from {{ ref('ch_orders') }}
where '{{ target.type }}' <> 'clickhouse'
union all
select order_id, country, amount from {{ ref('spark_orders') }}
where (order_id, country, amount) not in (
    select order_id, country, amount from {{ ref('ch_orders') }}
)
