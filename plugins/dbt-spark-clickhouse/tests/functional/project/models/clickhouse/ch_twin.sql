{{ config(alias='twin') }}

select
    '{{ tool.engine() }}' as package_on,
    '{{ dbt.type_string() }}' as dbt_on,
    spark.package_on as parent_on
from {{ ref('spark_twin') }} as spark
