{{ config(materialized='versioned_collapsing_view', meta={'order_by': 'status'}) }}

{{ signed_sums(ref('orders'), 'status', ['amount', 'items'], count='orders') }}
