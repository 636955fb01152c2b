{{ config(
    pre_hook="create table if not exists mixed.spark_hooks (model string, orders bigint) using parquet",
    post_hook="insert into mixed.spark_hooks select '{{ this.identifier }}', count(*) from {{ this }}",
) }}

select
    cast(row_number() over (order by code, n) as bigint) as order_id,
    code as country,
    cast(n * 10.5 as decimal(18, 2)) as amount
from {{ ref('countries') }}
lateral view explode(sequence(1, 4)) as n
