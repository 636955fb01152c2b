{%- set columns -%}
  customer_id Int64,
  name String,
  email Nullable(String),
  region String,
  tier String,
  credit_limit Decimal(12, 2),
  updated_at DateTime64(6, ''UTC'')
{%- endset -%}

with applied as (
  select max(arrayMax(arrayConcat([0], tupleElement(ledger.batches, 'batch')))) as batch
  from {{ get_ledger_relation(ref('customers')) }} as ledger
  where
    ledger.status = 'applied'
    and ledger.target_uuid = {{ get_table_uuid_sql(ref('customers')) }}
)

select
  customer_id,
  name,
  email,
  region,
  tier,
  credit_limit,
  updated_at
from
  file('data/expected/batch_*/customers.csv', 'CSVWithNames', '{{ columns }}')
where toUInt32(extract(_path, 'batch_([0-9]+)')) = (select applied.batch from applied)
settings date_time_input_format = 'best_effort'
