{{ config(materialized='materialized_view', engine='SummingMergeTree', order_by='country') }}

select country, count() as orders from {{ ref('ch_orders') }} group by country
