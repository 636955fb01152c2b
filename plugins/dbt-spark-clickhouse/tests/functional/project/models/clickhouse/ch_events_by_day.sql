{{ config(
    materialized='incremental',
    incremental_strategy='microbatch',
    event_time='happened_at',
    batch_size='day',
    begin='2024-01-01',
    unique_key='id',
) }}

select id, happened_at from {{ ref('spark_events') }}
