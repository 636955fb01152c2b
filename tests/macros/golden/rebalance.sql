insert into `it_rebalance`.`orders__dbt_signed` (
    "id", "region", "amount", "_version", "_sign"
  )
  select *
  from (select "id", "region", "amount", "_version", _dbt_sign_to_write
  from (
    select *, toInt8(sign(_dbt_missing)) as _dbt_sign_of_each
    from (select
    *,
    countIf(_dbt_net_sign <> 0) over (partition by "id", "_version", "id", "region") > 1
      and max(_dbt_is_wanted and _dbt_is_live) over (partition by "id", "_version", "id", "region")
      as _dbt_is_undecided,
    if(_dbt_is_undecided, 0, _dbt_is_wanted - _dbt_net_sign) as _dbt_missing
  from (
    select
      *,
      (_dbt_is_live or _dbt_is_change)
        and ("_version", _dbt_is_live) = maxIf(("_version", _dbt_is_live), _dbt_is_live or _dbt_is_change)
          over (partition by "id")
        as _dbt_is_wanted
    from (
      select "id", "region", "amount", "_version", _dbt_net_sign, _dbt_is_change, _dbt_net_sign > 0 and not (_dbt_is_tombstone and "_version" <= _dbt_deleted_at) as _dbt_is_live
      from (
        select "id", "region", "amount", "_version", sum(_dbt_row_sign) as _dbt_net_sign, max(_dbt_is_change_row) as _dbt_is_change
        from (select "id", "region", "amount", "_version", "_sign" as _dbt_row_sign, false as _dbt_is_change_row
    from `it_rebalance`.`orders__dbt_uncollapsed`
    where ("id") in (select "id" from `it_rebalance`.`orders__dbt_unbalanced`)
    union all
    select "id", "region", "amount", "_version", toInt8(0) as _dbt_row_sign, true as _dbt_is_change_row
    from `it_rebalance`.`orders__dbt_input`
    where ("id") in (select "id" from `it_rebalance`.`orders__dbt_unbalanced`) and not _dbt_is_deleted and not _dbt_is_tombstoned)
        group by "id", "region", "amount", "_version"
        having _dbt_net_sign <> 0 or _dbt_is_change
      ) as _dbt_rows
      left any join (
        select
      "id",
      "_version" as _dbt_deleted_at,
      true as _dbt_is_tombstone
    from `it_rebalance`.`orders__dbt_input`
    where ("id") in (select "id" from `it_rebalance`.`orders__dbt_unbalanced`) and _dbt_is_deleted and not _dbt_is_tombstoned
      ) as _dbt_ends using ("id")
    )
  )
  qualify _dbt_missing <> 0 or _dbt_is_undecided
  settings allow_suspicious_types_in_group_by = 1)
    where _dbt_missing <> 0
  )
  array join arrayResize([_dbt_sign_of_each], abs(_dbt_missing), _dbt_sign_of_each) as _dbt_sign_to_write)
  settings join_algorithm = 'partial_merge', query_plan_convert_any_join_to_semi_or_anti_join = 0, optimize_on_insert = 0, max_insert_threads = 2, max_block_size = 65409, min_insert_block_size_rows = 1048576, min_insert_block_size_bytes = 67108864, max_partitions_per_insert_block = 0, log_comment = 'versioned_collapsing d3e5f1afee4cd3d3bc7c453d3a19d2af'
