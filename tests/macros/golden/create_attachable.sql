create table `it_first_run`.`orders__dbt_signed` as `it_first_run`.`orders`
  engine = VersionedCollapsingMergeTree(_sign, _version) PARTITION BY (region) ORDER BY (id)
      settings max_bytes_to_merge_at_max_space_in_pool = 0, max_number_of_merges_with_ttl_in_pool = 0, parts_to_delay_insert = 1000000000, parts_to_throw_insert = 1000000000, inactive_parts_to_delay_insert = 0, inactive_parts_to_throw_insert = 0, max_parts_in_total = 1000000000, add_implicit_sign_column_constraint_for_collapsing_engine = 1, index_granularity = 8192
      comment 'Staged by versioned_collapsing 58fbc060ec33fb1d98cfc08871a8f7c1'
