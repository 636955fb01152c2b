insert into `it_combine`.`orders__dbt_folded` (
    "id", "region", "amount", "_version",
    _dbt_unset, _dbt_is_deleted, _dbt_is_tombstoned, _dbt_repeats_delete, _dbt_unmerged
  )
  with _dbt_live as (
    select "id", "region", "amount", "_version"
  from `it_combine`.`orders__dbt_uncollapsed` final
  where "_sign" = 1
  order by "id", "_version" desc
  limit 1 by "id"
  ),
  _dbt_changed as (
    select
    _dbt_input.*,
    _dbt_live_versions._dbt_is_live as _dbt_has_live,
    _dbt_live_versions._dbt_live_version as _dbt_live_version
  from `it_combine`.`orders__dbt_input` as _dbt_input
  left any join (
    select "id", "_version" as _dbt_live_version, true as _dbt_is_live from _dbt_live
  ) as _dbt_live_versions
    on _dbt_input."id" = _dbt_live_versions."id"
  ),
  _dbt_has_reset_known as (
    select *, countIf(_dbt_is_reset and not _dbt_is_deleted) over (partition by "id") > 0 as _dbt_has_reset from _dbt_changed
  ),
  _dbt_reset_at_known as (
    select *, maxIf("_version", _dbt_is_reset and not _dbt_is_deleted) over (partition by "id") as _dbt_reset_at from _dbt_has_reset_known
  ),
  _dbt_has_delete_known as (
    select *, countIf(_dbt_is_deleted) over (partition by "id") > 0 as _dbt_has_delete from _dbt_reset_at_known
  ),
  _dbt_dead_at_known as (
    select *, maxIf("_version", _dbt_is_deleted) over (partition by "id") as _dbt_dead_at from _dbt_has_delete_known
  ),
  _dbt_highest_known as (
    select *, maxIf("_version", true) over (partition by "id") as _dbt_highest from _dbt_dead_at_known
  ),
  _dbt_is_new_known as (
    select *, not _dbt_is_deleted
      and not _dbt_is_tombstoned
      and not (_dbt_has_reset and "_version" < _dbt_reset_at)
      and not (_dbt_has_delete and "_version" <= _dbt_dead_at)
      and not (_dbt_has_live and "_version" <= _dbt_live_version) as _dbt_is_new from _dbt_highest_known
  ),
  _dbt_is_fallback_known as (
    select *, "_version" = _dbt_highest and _dbt_is_deleted = (_dbt_has_delete and _dbt_dead_at = _dbt_highest) as _dbt_is_fallback from _dbt_is_new_known
  ),
  _dbt_deletes_nothing_known as (
    select *, _dbt_repeats_delete as _dbt_deletes_nothing from _dbt_is_fallback_known
  ),
  _dbt_builds_on_live_known as (
    select *, _dbt_has_live
      and not (_dbt_has_delete and _dbt_live_version <= _dbt_dead_at)
      and not (_dbt_has_reset and _dbt_live_version < _dbt_reset_at) as _dbt_builds_on_live from _dbt_deletes_nothing_known
  ),
  _dbt_has_new_known as (
    select *, countIf(_dbt_is_new) over (partition by "id") > 0 as _dbt_has_new from _dbt_builds_on_live_known
  ),
  _dbt_is_taken_known as (
    select *, if(_dbt_has_new, _dbt_is_new, _dbt_is_fallback) as _dbt_is_taken from _dbt_has_new_known
  ),
  _dbt_is_late_known as (
    select *, not _dbt_is_deleted and not _dbt_is_tombstoned and _dbt_has_live and "_version" < _dbt_live_version as _dbt_is_late from _dbt_is_taken_known
  ),
  _dbt_marked as (
    select * from _dbt_is_late_known
  ),
  _dbt_folded as (
    select
    "id",
    tupleElement(argMaxIf(tuple(_dbt_marked."region"), _dbt_marked."_version", _dbt_marked._dbt_is_taken and not has(_dbt_marked._dbt_unset, 'region')), 1) as "region",
    maxIf(_dbt_marked."amount", _dbt_marked._dbt_is_taken and not has(_dbt_marked._dbt_unset, 'amount')) as "amount",
    if(
      _dbt_folded_is_deleted, any(_dbt_marked._dbt_dead_at), maxIf(_dbt_marked."_version", _dbt_marked._dbt_is_taken)
    ) as "_version",
    arrayFilter(_dbt_name -> _dbt_name <> '', [
      if(countIf(_dbt_marked._dbt_is_taken and not has(_dbt_marked._dbt_unset, 'region')) = 0, 'region', ''),
      if(countIf(_dbt_marked._dbt_is_taken and not has(_dbt_marked._dbt_unset, 'amount')) = 0, 'amount', '')
    ]) as _dbt_folded_unset,
    countIf(_dbt_marked._dbt_is_taken and _dbt_marked._dbt_is_deleted) > 0 as _dbt_folded_is_deleted,
    countIf(_dbt_marked._dbt_is_taken and not _dbt_marked._dbt_is_tombstoned) = 0 as _dbt_folded_is_tombstoned,
    countIf(_dbt_marked._dbt_is_taken and _dbt_marked._dbt_deletes_nothing) > 0 as _dbt_folded_repeats_delete,
    any(_dbt_marked._dbt_builds_on_live) as _dbt_combines,
    multiIf(
      _dbt_folded_is_deleted or _dbt_folded_is_tombstoned,
      0,
      any(_dbt_marked._dbt_has_new),
      countIf(_dbt_marked._dbt_is_late and not _dbt_marked._dbt_is_taken) + (not _dbt_combines
          and arrayExists(_dbt_name -> _dbt_name not in ('', ),
      _dbt_folded_unset)),
      countIf(_dbt_marked._dbt_is_late and _dbt_marked._dbt_is_taken)
    ) as _dbt_folded_unmerged
  from _dbt_marked
  group by "id"
  )
  select
    _dbt_folded."id",
    if(
    _dbt_folded._dbt_combines and not _dbt_folded._dbt_folded_is_deleted,
    if(has(_dbt_folded._dbt_folded_unset, 'region'), _dbt_stored."region",
        _dbt_folded."region"),
    _dbt_folded."region"
  ),
    if(
    _dbt_folded._dbt_combines and not _dbt_folded._dbt_folded_is_deleted,
    if(has(_dbt_folded._dbt_folded_unset, 'amount'), _dbt_stored."amount",
        arrayReduce('max', [_dbt_stored."amount", _dbt_folded."amount"])),
    _dbt_folded."amount"
  ),
    _dbt_folded."_version",
    _dbt_folded._dbt_folded_unset,
    _dbt_folded._dbt_folded_is_deleted,
    _dbt_folded._dbt_folded_is_tombstoned,
    _dbt_folded._dbt_folded_repeats_delete,
    _dbt_folded._dbt_folded_unmerged
  from _dbt_folded
  left any join _dbt_live as _dbt_stored
    on _dbt_folded."id" = _dbt_stored."id"
  settings log_comment = 'versioned_collapsing c50916c09c820ff86ee3b65351432731'
