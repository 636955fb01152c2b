{{ config(materialized='versioned_collapsing_view', meta={'order_by': ['region', 'tier']}) }}

{{ signed_sums(ref('customers'), ['region', 'tier'], 'credit_limit', count='customers') }}
