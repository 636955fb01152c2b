{{ config(
    order_by='order_id',
    partition_by='country',
    pre_hook="create table if not exists {{ target.schema }}.clickhouse_hooks (model String, orders UInt64) engine = MergeTree order by tuple()",
    post_hook="insert into {{ target.schema }}.clickhouse_hooks select '{{ this.identifier }}', count() from {{ this }}",
) }}

select
    assumeNotNull(order_id) as order_id,
    assumeNotNull(country) as country,
    amount
from {{ ref('spark_orders') }}
