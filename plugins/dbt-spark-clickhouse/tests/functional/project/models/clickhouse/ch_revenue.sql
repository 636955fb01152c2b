{{ config(materialized='view') }}

select name, sum(amount) as amount from {{ ref('ch_named_orders') }} group by name
