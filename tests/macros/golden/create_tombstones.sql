create table if not exists `it_first_run`.`orders__tombstones`
   (
    "id" Int64,
    "_version" SimpleAggregateFunction(max, UInt64),
    _remembered_at SimpleAggregateFunction(max, DateTime('UTC')) default now()
  )
  engine = AggregatingMergeTree
  order by ("id")
  comment 'Deletes of the table 00000000-0000-0000-0000-000000000003'
