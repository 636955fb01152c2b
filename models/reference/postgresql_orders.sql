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

with applied as (
  select max(arrayMax(arrayConcat([0], tupleElement(ledger.batches, 'batch')))) as batch
  from {{ get_ledger_relation(ref('orders')) }} as ledger
  where
    ledger.status = 'applied'
    and ledger.target_uuid = {{ get_table_uuid_sql(ref('orders')) }}
)

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
where toUInt32(extract(_path, 'batch_([0-9]+)')) = (select applied.batch from applied)
settings date_time_input_format = 'best_effort'
