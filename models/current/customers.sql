{{ config(
    unique_key='customer_id',
    meta={
        'order_by': ['region', 'customer_id'],
        'projections': [signed_projection('by_region_and_tier', ['region', 'tier'], 'credit_limit')],
    },
) }}

select * from {{ ref('customers_changes') }}
