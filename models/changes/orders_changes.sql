{{ one_change_per_key(ref('stg_shop__orders'), key=['order_id']) }}
