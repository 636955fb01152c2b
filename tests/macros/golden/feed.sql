insert into `it_feed`.`orders__feed` ("id", "region", "amount", "_version", "_sign", _apply, _applied_at, _changed_version)
  select
    "id", "region", "amount", "_version", "_sign",
    2 as _dbt_apply,
    greatest(now64(6, 'UTC'), (select max(_applied_at) + toIntervalMicrosecond(1) from `it_feed`.`orders__feed` where _apply >= 1)) as _dbt_at,
    if(_dbt_is_changed, greatest("_version", _dbt_changed_version), "_version") as _dbt_by_version
  from (select "id", "region", "amount", "_version", "_sign" from `it_feed`.`orders__dbt_signed`) as _dbt_signed
  left any join (
    select "id", "_version" as _dbt_changed_version, true as _dbt_is_changed
    from `it_feed`.`orders__dbt_input`
  ) as _dbt_changed using ("id")
  settings join_algorithm = 'partial_merge', query_plan_convert_any_join_to_semi_or_anti_join = 0, max_partitions_per_insert_block = 0, log_comment = 'versioned_collapsing bf9507f6db7092dafa008ae46e6f4c50'
