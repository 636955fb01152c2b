insert into `it_update`.`orders__dbt_uncollapsed` ("id", "region", "amount", "_version", "_sign")
    select "id", "region", "amount", "_version", "_sign"
    from (select "id", "region", "amount", "_version", "_sign"
  from (
    select "id", "region", "amount", "_version", "_sign"
    from `it_update`.`orders`
    where "id" in (select "id" from `it_update`.`orders__dbt_input`)
  ) as _dbt_stored
  left any join (select "id", true as _dbt_is_changed from `it_update`.`orders__dbt_input`) as _dbt_changed using ("id")
  where _dbt_is_changed)
    settings join_algorithm = 'partial_merge', query_plan_convert_any_join_to_semi_or_anti_join = 0, optimize_on_insert = 0, use_query_condition_cache = 0, log_comment = 'versioned_collapsing 331160526ed145c3ce3a79687b3473c7'
