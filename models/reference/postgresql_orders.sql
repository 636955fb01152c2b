{%- set columns -%}
  order_id Int64,
  customer_id Int64,
  region String,
  status String,
  amount Decimal(12, 2),
  items Int64,
  note Nullable(String),
  created_at DateTime64(6, ''UTC''),
  updated_at DateTime64(6, ''UTC'')
{%- endset -%}

select
  order_id,
  customer_id,
  region,
  status,
  amount,
  items,
  note,
  created_at,
  updated_at
from
  file('data/expected/batch_*/orders.csv', 'CSVWithNames', '{{ columns }}')
where toUInt32(extract(_path, 'batch_([0-9]+)')) = (
  select max(arrayMax(arrayConcat([0], batches.batch)))
  from {{ get_ledger_relation(ref('orders')) }}
  where
    status = 'applied'
    and target_uuid = {{ get_table_uuid_sql(ref('orders')) }}
)
settings date_time_input_format = 'best_effort'
