insert into `it_rebalance`.`orders__dbt_signed` (
    "id", "region", "amount", "_version", "_sign"
  )
  select *
  from (with _dbt_per_key as (
    select
    "id",
    groupArrayIf(_dbt_any_row, _dbt_is_stored) as _dbt_stored_rows,
    groupArrayIf(_dbt_any_row, _dbt_is_state) as _dbt_states,
    anyIf(_dbt_any_row, not _dbt_is_stored) as _dbt_change,
    anyIf(_dbt_deletes, not _dbt_is_stored) as _dbt_change_deletes,
    anyIf(_dbt_tombstoned, not _dbt_is_stored) as _dbt_change_is_tombstoned
  from (
    select
      "id",
      cast(tuple("region", "amount", "_version", toInt8("_sign")), 'Tuple(`_dbt_region` String, `_dbt_amount` Nullable(Int64), `_dbt__version` UInt64, `_dbt__sign` Int8)') as _dbt_any_row,
      true as _dbt_is_stored,
      "_sign" = 1 as _dbt_is_state,
      false as _dbt_deletes,
      false as _dbt_tombstoned
    from `it_rebalance`.`orders__dbt_uncollapsed`
    where ("id") in (select "id" from `it_rebalance`.`orders__dbt_unbalanced`)
    union all
    select
      "id",
      cast(tuple("region", "amount", "_version", toInt8(1)), 'Tuple(`_dbt_region` String, `_dbt_amount` Nullable(Int64), `_dbt__version` UInt64, `_dbt__sign` Int8)'),
      false as _dbt_is_stored,
      false as _dbt_is_state,
      _dbt_is_deleted,
      _dbt_is_tombstoned
    from `it_rebalance`.`orders__dbt_input`
    where ("id") in (select "id" from `it_rebalance`.`orders__dbt_unbalanced`)
  )
  group by "id"
  having countIf(not _dbt_is_stored) > 0
  ),
  _dbt_has_live_known as (
    select *, notEmpty(_dbt_states) as _dbt_has_live from _dbt_per_key
  ),
  _dbt_live_version_known as (
    select *, arrayMax(_dbt_row -> tupleElement(_dbt_row, '_dbt__version'), _dbt_states) as _dbt_live_version from _dbt_has_live_known
  ),
  _dbt_is_accepted_known as (
    select *, not _dbt_change_is_tombstoned
      and if(
        _dbt_has_live,
        tupleElement(_dbt_change, '_dbt__version') > _dbt_live_version or (_dbt_change_deletes and tupleElement(_dbt_change, '_dbt__version') = _dbt_live_version),
        not _dbt_change_deletes
      ) as _dbt_is_accepted from _dbt_live_version_known
  ),
  _dbt_surplus_known as (
    select *, arrayFilter(
      (_dbt_row, _dbt_position) -> not (
        _dbt_has_live
        and not _dbt_is_accepted
        and tupleElement(_dbt_row, '_dbt__sign') = 1
        and tupleElement(_dbt_row, '_dbt__version') = _dbt_live_version
        and _dbt_position = indexOf(_dbt_stored_rows, _dbt_row)
      ),
      _dbt_stored_rows,
      arrayEnumerate(_dbt_stored_rows)
    ) as _dbt_surplus from _dbt_is_accepted_known
  ),
  _dbt_added_known as (
    select *, if(_dbt_is_accepted and not _dbt_change_deletes, [_dbt_change], []) as _dbt_added from _dbt_surplus_known
  ),
  _dbt_written_rows_known as (
    select *, arrayConcat(_dbt_surplus, _dbt_added) as _dbt_written_rows from _dbt_added_known
  ),
  _dbt_written_signs_known as (
    select *, arrayConcat(
      arrayMap(_dbt_row -> toInt8(-tupleElement(_dbt_row, '_dbt__sign')), _dbt_surplus),
      arrayMap(_dbt_row -> toInt8(1), _dbt_added)
    ) as _dbt_written_signs from _dbt_written_rows_known
  ),
  _dbt_rebalanced as (
    select * from _dbt_written_signs_known
  )
  select
    "id",
    tupleElement(_dbt_written, '_dbt_region'),
    tupleElement(_dbt_written, '_dbt_amount'),
    tupleElement(_dbt_written, '_dbt__version'),
    _dbt_written_sign
  from _dbt_rebalanced
  array join _dbt_written_rows as _dbt_written, _dbt_written_signs as _dbt_written_sign)
  settings join_algorithm = 'partial_merge', query_plan_convert_any_join_to_semi_or_anti_join = 0, optimize_on_insert = 0, max_insert_threads = 2, max_block_size = 65409, min_insert_block_size_rows = 1048576, min_insert_block_size_bytes = 67108864, max_partitions_per_insert_block = 0, log_comment = 'versioned_collapsing d3e5f1afee4cd3d3bc7c453d3a19d2af'
