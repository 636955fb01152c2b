{{ config(materialized='versioned_collapsing_view', meta={'order_by': ['region', 'month']}) }}

{{ signed_sums(
    ref('orders'),
    {'region': 'region', 'month': 'toStartOfMonth(created_at)'},
    {'revenue': 'amount'},
    count='orders',
) }}
