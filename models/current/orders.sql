{{ config(
    unique_key='order_id',
    meta={
        'order_by': 'order_id',
        'partition_by': 'toYYYYMM(updated_at)',
        'projections': [
            signed_projection(
                'by_region_and_month', {'region': 'region', 'month': 'toStartOfMonth(created_at)'}, 'amount'
            ),
            signed_projection('by_status', 'status', ['amount', 'items']),
        ],
    },
) }}

select * from {{ ref('orders_changes') }}
