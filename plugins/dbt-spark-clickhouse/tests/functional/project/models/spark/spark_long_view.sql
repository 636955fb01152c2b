{{ config(materialized='view') }}

select order_id from {{ ref('spark_orders') }} where amount > 20 and '{{ "longer than Derby takes" * 2000 }}' <> ''
