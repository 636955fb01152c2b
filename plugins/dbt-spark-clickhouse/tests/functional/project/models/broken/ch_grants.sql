{{ config(grants={'select': ['reader']}) }}

select 1 as id
