create table `it_first_run`.`orders`
   (
    "id" Int64,
    "region" String,
    "amount" Nullable(Int64),
    "_version" UInt64,
    "_sign" Int8
  )
  engine = VersionedCollapsingMergeTree("_sign", "_version")
  partition by ("region")
  order by ("id")
  settings add_implicit_sign_column_constraint_for_collapsing_engine = 1
  comment 'versioned_collapsing'
