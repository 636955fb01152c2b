with (select countIf("_sign" < 0) from `it_combine`.`orders__dbt_uncollapsed`) as _dbt_cancels
  select
    'uncollapsed row' as _dbt_outcome,
    count() as _dbt_n,
    countIf("_sign" < 0) as _dbt_matched,
    toUInt64(0) as _dbt_unmerged_rows
  from `it_combine`.`orders__dbt_uncollapsed`
  union all
  select
    multiIf(
      _dbt_changed._dbt_is_unbalanced, 'rebalanced',
      _dbt_changed._dbt_is_tombstoned, if(_dbt_changed._dbt_is_deleted, 'late', 'tombstoned'),
      _dbt_stored."_sign" = 0 and _dbt_changed._dbt_repeats_delete, 'duplicate',
      _dbt_stored."_sign" = 0, if(_dbt_changed._dbt_is_deleted, 'delete of an absent key', 'insert'),
      _dbt_changed."_version" < _dbt_stored."_version", 'late',
      _dbt_changed._dbt_is_deleted, 'delete',
      _dbt_changed."_version" > _dbt_stored."_version", 'update',
      'same version'
    ) as _dbt_outcome,
    count() as _dbt_n,
    countIf(_dbt_stored."_sign" <> 0) as _dbt_matched,
    sum(_dbt_changed._dbt_unmerged) as _dbt_unmerged_rows
  from (
    select *, ("id") in (select "id" from `it_combine`.`orders__dbt_unbalanced`) as _dbt_is_unbalanced
    from `it_combine`.`orders__dbt_folded`
    where _dbt_cancels = 0
  ) as _dbt_changed
  left any join (
    select * from `it_combine`.`orders__dbt_uncollapsed` where _dbt_cancels = 0
  ) as _dbt_stored
    on _dbt_changed."id" = _dbt_stored."id"
  group by _dbt_outcome
  settings join_algorithm = 'partial_merge', log_comment = 'versioned_collapsing c50916c09c820ff86ee3b65351432731'
