{{ config(materialized='versioned_collapsing_view', order_by=['status', 'amount']) }}

{{ signed_sums(ref('orders'), ['status', 'amount'], []) }}
