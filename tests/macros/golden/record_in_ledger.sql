insert into `it_update`.`versioned_collapsing_ledger`
        (model, target_uuid, invocation_id, run_id, status, at, batches, lines, blank, quarantined, passed_over, events, rows_read, keys, states, cancels, deletes, duplicates, stale, unmerged, conflicts, tombstoned, repaired, superseded, derived, truncates, milliseconds, publish, block, chunk, chunks, is_partial, truncated_at, source_uuid, definition)
      select
        'update', (select uuid from system.tables where database = 'it_update' and name = 'orders'), '00000000-0000-4000-8000-000000000001', '331160526ed145c3ce3a79687b3473c7',
        'started', now64(6, 'UTC'),
        cast([], 'Array(Tuple(batch UInt64, hash String))'),
        null, null, null, null, 1,
        1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0,
        'direct', 0, 1, 1, False,
        '',
        toUUID('00000000-0000-0000-0000-000000000000'),
        ' remembers_deletes'
