{{ parse_debezium(
    source('shop_landing', 'order_items'),
    key=['order_id', 'line_no'],
    columns={
        'order_id': 'bigint',
        'line_no': 'bigint',
        'sku': 'string',
        'quantity': 'bigint',
        'unit_price': 'decimal(10,2)',
        'updated_at': 'timestamp',
    },
    required=['sku', 'quantity', 'unit_price', 'updated_at'],
) }}
