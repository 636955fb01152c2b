{{ config(
    pre_hook="create table if not exists {{ target.schema }}.spark_hooks (model string) using parquet",
    post_hook="insert into {{ target.schema }}.spark_hooks select '{{ this.identifier }}, ' || count(*) from {{ this }}",
) }}

select
    cast(id as bigint) as order_id,
    code as country,
    cast(id * 10.5 as decimal(18, 2)) as amount,
    cast(null as string) as note
from {{ ref('countries') }}
lateral view explode(sequence(1, 4)) as id
