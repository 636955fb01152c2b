insert into `it_update`.`orders__dbt_signed` (
    "id", "region", "amount", "_version", "_sign"
  )
  select *
  from (select
    if(_dbt_sign = -1, _dbt_stored."id", _dbt_changed."id"),
    if(_dbt_sign = -1, _dbt_stored."region", _dbt_changed."region"),
    if(_dbt_sign = -1, _dbt_stored."amount", _dbt_changed."amount"),
    if(_dbt_sign = -1, _dbt_stored."_version", _dbt_changed."_version"),
    _dbt_sign
  from (
    select *
    from `it_update`.`orders__dbt_changes`
    where not _dbt_is_tombstoned
      and ("id") not in (
        select "id" from `it_update`.`orders__dbt_torn`
      )
  ) as _dbt_changed
  left join (
    select * from `it_update`.`orders__dbt_uncollapsed`
  ) as _dbt_stored
    on _dbt_changed."id" = _dbt_stored."id"
  array join [toInt8(-1), toInt8(1)] as _dbt_sign
  where if(
    _dbt_sign = -1,
    _dbt_stored."_sign" = 1
      and (
        _dbt_changed."_version" > _dbt_stored."_version"
        or (_dbt_changed._dbt_is_deleted and _dbt_changed."_version" = _dbt_stored."_version")
      ),
    not _dbt_changed._dbt_is_deleted
      and (_dbt_stored."_sign" = 0 or _dbt_changed."_version" > _dbt_stored."_version")
  ))
  settings join_algorithm = 'partial_merge', optimize_on_insert = 0, max_insert_threads = 2, max_block_size = 65409, min_insert_block_size_rows = 1048576, min_insert_block_size_bytes = 67108864, max_partitions_per_insert_block = 0, log_comment = 'versioned_collapsing 331160526ed145c3ce3a79687b3473c7'
