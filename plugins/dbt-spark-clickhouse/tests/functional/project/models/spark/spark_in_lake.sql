{{ config(location_root='lake', alias='in_lake') }}

select 'a folder of its own' as folder
