{{ config(materialized='versioned_collapsing_view', meta={'order_by': ['status', 'amount']}) }}

{{ signed_sums(ref('orders'), ['status', 'amount'], []) }}
