{{ config(alias='twin') }}

select
    '{{ tool.engine() }}' as package_on,
    '{{ dbt.type_string() }}' as dbt_on,
    orders
from {{ ref('spark_ephemeral') }}
