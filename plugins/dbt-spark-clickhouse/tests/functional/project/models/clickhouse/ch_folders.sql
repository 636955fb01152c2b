select folder from {{ ref('spark_in_default') }}
union all
select folder from {{ ref('spark_in_lake') }}
