insert into `it_update`.`orders__dbt_input` (
    "id", "region", "amount", "_version", _dbt_is_deleted, _dbt_is_tombstoned, _dbt_repeats_delete, _dbt_problem
  )
  with _dbt_input as (
    select *
  from (select
    _dbt_given."id" as "id",
    _dbt_given."region" as "region",
    _dbt_given."amount" as "amount",
    _dbt_given."_version" as "_version",
    ifNull(toBool(_dbt_given."_is_deleted"), false) as _dbt_is_deleted,
    false as _dbt_is_reset,
    '' as _dbt_problem
  from (
select * from it_update.changes
) as _dbt_given
  where true)
  order by "id", _dbt_problem desc, "_version" desc, _dbt_is_deleted desc
  limit 1 by "id"
  )
  select
    "id", "region", "amount", "_version", _dbt_is_deleted, false as _dbt_is_tombstoned, false as _dbt_repeats_delete, _dbt_problem
  from _dbt_input
  settings log_comment = 'versioned_collapsing 331160526ed145c3ce3a79687b3473c7'
