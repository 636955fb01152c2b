insert into `it_delete`.`orders__dbt_deletes` ("id", "_version")
  select "id", _dbt_input."_version"
  from `it_delete`.`orders__dbt_input` as _dbt_input
  left join (
    select "id", max("_version") as _dbt_live_version, 1 as _dbt_is_live
    from `it_delete`.`orders__dbt_uncollapsed`
    where "_sign" = 1
    group by "id"
  ) as _dbt_live using ("id")
  where _dbt_input._dbt_is_deleted
    and not _dbt_input._dbt_is_tombstoned
    and not _dbt_input._dbt_repeats_delete
    and (_dbt_live._dbt_is_live = 0 or _dbt_input."_version" >= _dbt_live._dbt_live_version)
  settings log_comment = 'versioned_collapsing 8c91c95972c6a1ff2a9f777ebab9091c'
