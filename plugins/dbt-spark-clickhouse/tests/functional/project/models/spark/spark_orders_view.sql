{{ config(materialized='view') }}

select * from {{ ref('spark_orders') }} where amount > 20
