{{ config(materialized='ephemeral') }}

select count(*) as orders from {{ ref('spark_orders') }}
