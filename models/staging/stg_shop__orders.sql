{{ parse_debezium(
    source('shop_landing', 'orders'),
    key=['order_id'],
    columns={
        'order_id': 'bigint',
        'customer_id': 'bigint',
        'region': 'string',
        'status': 'string',
        'amount': 'decimal(12,2)',
        'items': 'bigint',
        'note': 'string',
        'created_at': 'timestamp',
        'updated_at': 'timestamp',
    },
    required=['customer_id', 'region', 'status', 'amount', 'items', 'created_at', 'updated_at'],
) }}
