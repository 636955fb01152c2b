insert into `it_combine`.`orders__dbt_input` (
    "id", "region", "amount", "_version", _dbt_unset, _dbt_is_reset, _dbt_batch, _dbt_is_deleted, _dbt_is_tombstoned, _dbt_repeats_delete, _dbt_problem
  )
  with _dbt_input as (
    select
    _dbt_given."id" as "id",
    _dbt_given."region" as "region",
    _dbt_given."amount" as "amount",
    _dbt_given."_version" as "_version",
    cast(arrayConcat([]), 'Array(String)') as _dbt_unset,
    toUInt64(0) as _dbt_batch,
    ifNull(toBool(_dbt_given."_is_deleted"), false) as _dbt_is_deleted,
    false as _dbt_is_reset,
    '' as _dbt_problem
  from (
select * from it_combine.changes
) as _dbt_given
  where true
  )
  select
    "id", "region", "amount", "_version", _dbt_unset, _dbt_is_reset, _dbt_batch, _dbt_is_deleted, false as _dbt_is_tombstoned, false as _dbt_repeats_delete, _dbt_problem
  from _dbt_input
  settings log_comment = 'versioned_collapsing c50916c09c820ff86ee3b65351432731'
