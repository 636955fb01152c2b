{{ config(database='spark') }}

select 1 as id
