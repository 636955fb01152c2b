{{ config(database='spark') }}

select * from {{ ref('ch_orders') }}
