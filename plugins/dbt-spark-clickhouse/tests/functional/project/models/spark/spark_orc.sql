{{ config(file_format='orc') }}

select 1 as id
