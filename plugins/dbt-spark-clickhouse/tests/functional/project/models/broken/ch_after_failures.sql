select spark.id as id from {{ ref('spark_fails_once') }} as spark cross join {{ ref('ch_fails_once') }} as ch
