{{ parse_debezium(
    source('shop_landing', 'customers'),
    key=['customer_id'],
    table='customers',
    columns={
        'customer_id': 'bigint',
        'name': 'string',
        'email': 'string',
        'region': 'string',
        'tier': 'string',
        'credit_limit': 'decimal(12,2)',
        'updated_at': 'timestamp',
    },
    required=['name', 'region', 'tier', 'credit_limit', 'updated_at'],
) }}
