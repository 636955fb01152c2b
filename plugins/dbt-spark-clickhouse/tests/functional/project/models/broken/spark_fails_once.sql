{{ config(database='spark', pre_hook='select * from {{ target.schema }}.repairs') }}

select 1 as id
