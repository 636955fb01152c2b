select
    `id`, `at`,
    pending._batch,
    log._change_type in ('INSERT', 'UPDATE_AFTER') as _is_after,
    false as _is_truncate
  from shop__orders_changes__feed_log as log
  inner join (
    select *
    from values
      (7, cast(100 as bigint)),
      (9, cast(200 as bigint))
    as pending (_snapshot_id, _batch)
  ) as pending on log._commit_snapshot_id = pending._snapshot_id
