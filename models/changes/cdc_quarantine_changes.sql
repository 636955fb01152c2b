{{ config(meta={'on_changed_batch': 'retake'}) }}

{{ quarantined_lines(ref('stg_shop__customers'), 'customers') }}
union all
{{ quarantined_lines(ref('stg_shop__orders'), 'orders') }}
union all
{{ quarantined_lines(ref('stg_shop__order_items'), 'order_items') }}
