select id, happened_at from {{ ref('spark_events') }}
