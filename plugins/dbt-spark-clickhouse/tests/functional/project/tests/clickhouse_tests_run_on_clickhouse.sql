{{ config(store_failures=true, schema='failures') }}

select order_id from {{ ref('ch_orders') }} where amount <= 0 or '{{ target.type }}' <> 'clickhouse'
