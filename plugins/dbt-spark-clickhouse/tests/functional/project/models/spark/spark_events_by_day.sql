{{ config(
    materialized='incremental',
    incremental_strategy='microbatch',
    event_time='happened_at',
    batch_size='day',
    begin='2024-01-01',
    partition_by='day',
) }}

select id, happened_at, cast(happened_at as date) as day from {{ ref('spark_events') }}
