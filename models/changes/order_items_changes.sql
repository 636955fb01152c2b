{{ one_change_per_key(ref('stg_shop__order_items'), key=['order_id', 'line_no']) }}
