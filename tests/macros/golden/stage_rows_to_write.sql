insert into `it_update`.`orders__dbt_signed` (
    "id", "region", "amount", "_version", "_sign"
  )
  select *
  from (select "id", "region", "amount", "_version", toInt8(-1) as _dbt_new_sign
  from (
    select * from `it_update`.`orders__dbt_uncollapsed`
  ) as _dbt_stored
  left any join (
    select "id", "_version" as _dbt_changed_version, _dbt_is_deleted, true as _dbt_is_changed
    from `it_update`.`orders__dbt_input`
    where not _dbt_is_tombstoned
      and ("id") not in (
        select "id" from `it_update`.`orders__dbt_unbalanced`
      )
  ) as _dbt_changed using ("id")
  where _dbt_is_changed
    and "_sign" = 1
    and (
      _dbt_changed_version > "_version"
      or (_dbt_is_deleted and _dbt_changed_version = "_version")
    )
  union all
  select "id", "region", "amount", "_version", toInt8(1) as _dbt_new_sign
  from (
    select *
    from `it_update`.`orders__dbt_input`
    where not _dbt_is_deleted and not _dbt_is_tombstoned
      and ("id") not in (
        select "id" from `it_update`.`orders__dbt_unbalanced`
      )
  ) as _dbt_changed
  left any join (
    select "id", "_version" as _dbt_stored_version, "_sign" as _dbt_stored_sign
    from `it_update`.`orders__dbt_uncollapsed`
  ) as _dbt_stored using ("id")
  where _dbt_stored_sign = 0 or "_version" > _dbt_stored_version)
  settings join_algorithm = 'partial_merge', query_plan_convert_any_join_to_semi_or_anti_join = 0, optimize_on_insert = 0, max_insert_threads = 2, max_block_size = 65409, min_insert_block_size_rows = 1048576, min_insert_block_size_bytes = 67108864, max_partitions_per_insert_block = 0, log_comment = 'versioned_collapsing 331160526ed145c3ce3a79687b3473c7'
