insert into `it_heal`.`orders` ("id", "region", "amount", "_version", "_sign")
  select *
  from (with _dbt_per_key as (
    select
      "id",
      groupArrayIf(_dbt_stored_row, _dbt_is_stored) as _dbt_uncollapsed_rows,
      anyIf(_dbt_stored_row, not _dbt_is_stored) as _dbt_change,
      anyIf(_dbt_change_is_deleted, not _dbt_is_stored) as _dbt_change_deletes,
      countIf(_dbt_is_stored and _dbt_stored_row.4 = 1) > 0 as _dbt_has_live,
      maxIf(_dbt_stored_row.3, _dbt_is_stored
          and _dbt_stored_row.4 = 1) as _dbt_live_version,
      not anyIf(_dbt_change_is_tombstoned, not _dbt_is_stored)
        and if(_dbt_has_live, _dbt_change.3 > _dbt_live_version
            or (_dbt_change_deletes and _dbt_change.3 = _dbt_live_version),
            not _dbt_change_deletes) as _dbt_is_accepted
    from (
      select "id", tuple("region", "amount", "_version", "_sign") as _dbt_stored_row, true as _dbt_is_stored,
          false as _dbt_change_is_deleted, false as _dbt_change_is_tombstoned
      from `it_heal`.`orders__dbt_uncollapsed`
      where ("id") in (select "id" from `it_heal`.`orders__dbt_torn`)
      union all
      select "id", tuple("region", "amount", "_version", toInt8(1)), false, _dbt_is_deleted, _dbt_is_tombstoned
      from `it_heal`.`orders__dbt_changes`
      where ("id") in (select "id" from `it_heal`.`orders__dbt_torn`)
    )
    group by "id"
    having countIf(not _dbt_is_stored) > 0
  )
  select
    "id",
    _dbt_emitted.1,
    _dbt_emitted.2,
    _dbt_emitted.3,
    _dbt_emitted.4
  from (
    select
      "id",
      arrayConcat(
        arrayMap(
          _dbt_uncollapsed_row -> tuple(_dbt_uncollapsed_row.1,
              _dbt_uncollapsed_row.2,
              _dbt_uncollapsed_row.3,
              toInt8(-_dbt_uncollapsed_row.4)),
          arrayFilter(
            (_dbt_uncollapsed_row, _dbt_position) -> not (
              _dbt_has_live and not _dbt_is_accepted and _dbt_uncollapsed_row.4 = 1
                  and _dbt_uncollapsed_row.3 = _dbt_live_version
              and _dbt_position = indexOf(_dbt_uncollapsed_rows, _dbt_uncollapsed_row)
            ),
            _dbt_uncollapsed_rows,
            arrayEnumerate(_dbt_uncollapsed_rows)
          )
        ),
        if(_dbt_is_accepted and not _dbt_change_deletes, [_dbt_change], [])
      ) as _dbt_rows_to_write
    from _dbt_per_key
  )
  array join _dbt_rows_to_write as _dbt_emitted)
  settings join_algorithm = 'partial_merge', optimize_on_insert = 0, max_block_size = 65409, max_insert_threads = 2, min_insert_block_size_rows = 1048576, min_insert_block_size_bytes = 67108864, max_partitions_per_insert_block = 0, log_comment = 'versioned_collapsing d4786b14d7e10a16c2b5e239ea1314aa'
