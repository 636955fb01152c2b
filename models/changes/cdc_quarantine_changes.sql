{{ config(meta={'on_changed_batch': 'reprocess'}) }}

{{ quarantined_lines(ref('stg_shop__customers'), 'customers', change_set=ref('customers_changes')) }}
union all
{{ quarantined_lines(ref('stg_shop__orders'), 'orders', change_set=ref('orders_changes')) }}
union all
{{ quarantined_lines(ref('stg_shop__order_items'), 'order_items', change_set=ref('order_items_changes')) }}
