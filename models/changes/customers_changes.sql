{{ one_change_per_key(ref('stg_shop__customers'), key=['customer_id']) }}
