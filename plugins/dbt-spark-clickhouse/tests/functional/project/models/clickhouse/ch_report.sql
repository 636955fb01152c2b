{{ config(materialized='view') }}

select name, sum(amount) as amount from {{ ref('ch_paid') }} group by name
