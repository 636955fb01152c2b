{{ config(schema='default') }}

select 'the warehouse itself' as folder
