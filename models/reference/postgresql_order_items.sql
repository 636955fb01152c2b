{%- set columns -%}
  order_id Int64,
  line_no Int64,
  sku String,
  quantity Int64,
  unit_price Decimal(10, 2),
  updated_at DateTime64(6, ''UTC'')
{%- endset -%}

with applied as (
  select max(arrayMax(arrayConcat([0], tupleElement(ledger.batches, 'batch')))) as batch
  from {{ get_ledger_relation(ref('order_items')) }} as ledger
  where
    ledger.status = 'applied'
    and ledger.target_uuid = {{ get_table_uuid_sql(ref('order_items')) }}
)

select
  order_id,
  line_no,
  sku,
  quantity,
  unit_price,
  updated_at
from
  file('data/expected/batch_*/order_items.csv', 'CSVWithNames', '{{ columns }}')
where toUInt32(extract(_path, 'batch_([0-9]+)')) = (select applied.batch from applied)
settings date_time_input_format = 'best_effort'
