select
    `id`, `at`,
    _commit_version as _batch,
    _change_type in ('insert', 'update_postimage') as _is_after,
    false as _is_truncate
  from table_changes('shop.orders', 4, 5)
  where _commit_version in (4, 5)
