insert into `it_journal`.`orders__dbt_signed` ("id", "region", "amount", "_version", "_sign", _dbt_block)
  select
    *,
    (select if(count() = 0, 0, max(_dbt_block) + 1) from `it_journal`.`orders__dbt_signed`) + intDiv(rowNumberInAllBlocks(),
        699050)
  from (select
    if(_dbt_sign = -1, _dbt_stored."id", _dbt_changed."id"),
    if(_dbt_sign = -1, _dbt_stored."region", _dbt_changed."region"),
    if(_dbt_sign = -1, _dbt_stored."amount", _dbt_changed."amount"),
    if(_dbt_sign = -1, _dbt_stored."_version", _dbt_changed."_version"),
    _dbt_sign
  from (
    select *
    from `it_journal`.`orders__dbt_changes`
    where not _dbt_is_tombstoned
      and ("id") not in (
        select "id" from `it_journal`.`orders__dbt_torn`
      )
  ) as _dbt_changed
  left join (
    select * from `it_journal`.`orders__dbt_uncollapsed`
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
  settings join_algorithm = 'partial_merge', log_comment = 'versioned_collapsing cca5cae311f829db6d147a229977930e'
