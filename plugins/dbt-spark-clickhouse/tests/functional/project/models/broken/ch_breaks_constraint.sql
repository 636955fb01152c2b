select assumeNotNull(id) as id from {{ ref('spark_events') }}
