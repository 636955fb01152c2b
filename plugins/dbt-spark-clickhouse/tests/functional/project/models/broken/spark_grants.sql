{{ config(database='spark', grants={'select': ['reader']}) }}

select 1 as id
