-- The figures that Prometheus scrapes from the ledger in `database`. docs/operating.md says how ClickHouse serves them.
with applies as (
  select
    model,
    max(at) as last_at,
    argMax(milliseconds, at) / 1000 as seconds,
    argMax((toUnixTimestamp64Micro(at) - toUnixTimestamp64Micro(arrayMin(landed_at))) / 1000000, at) as lag,
    argMax(notEmpty(landed_at), at) as has_lag,
    sum(states) as states,
    sum(cancels) as cancels,
    sum(deletes) as deletes,
    sum(duplicates) as duplicates,
    sum(late) as late,
    sum(conflicts) as conflicts,
    sum(tombstoned) as tombstoned,
    sum(forgotten) as forgotten,
    sum(rebalanced) as rebalanced,
    sum(ifNull(quarantined, 0)) as quarantined
  from {database:Identifier}.versioned_collapsing_ledger
  where status = 'applied'
  group by model
),

last_steps as (
  select model, argMax(status, at) in ('chunk staged', 'started', 'block applied') as is_interrupted
  from {database:Identifier}.versioned_collapsing_ledger
  where source_uuid = toUUID('00000000-0000-0000-0000-000000000000')
  group by model
)

select
  concat('versioned_collapsing_', metric.1) as name,
  toFloat64(metric.2) as value,
  metric.3 as help,
  metric.4 as type,
  map('database', {database:String}, 'model', model) as labels
from (
  select model, arrayJoin(arrayFilter(each -> each.5, [
    ('last_apply_timestamp_seconds', toFloat64(last_at), 'When the last apply ended', 'gauge', true),
    ('apply_seconds', toFloat64(seconds), 'How long the last apply took', 'gauge', true),
    ('landed_to_visible_seconds', toFloat64(lag), 'Age of the oldest batch of the last apply when its rows became visible',
      'gauge', has_lag),
    ('states_total', toFloat64(states), 'State rows written', 'counter', true),
    ('cancels_total', toFloat64(cancels), 'Cancel rows written', 'counter', true),
    ('deletes_total', toFloat64(deletes), 'Deletes applied', 'counter', true),
    ('duplicates_total', toFloat64(duplicates), 'Changes that repeat a change', 'counter', true),
    ('late_total', toFloat64(late), 'Changes below the version of the live row', 'counter', true),
    ('conflicts_total', toFloat64(conflicts), 'Changes at a version that has another payload', 'counter', true),
    ('tombstoned_total', toFloat64(tombstoned), 'Changes at or below the delete of their key', 'counter', true),
    ('forgotten_total', toFloat64(forgotten), 'Changes of forgotten keys', 'counter', true),
    ('rebalanced_total', toFloat64(rebalanced), 'Unbalanced keys that were rebalanced', 'counter', true),
    ('quarantined_total', toFloat64(quarantined), 'Lines that could not be used', 'counter', true)
  ])) as metric
  from applies

  union all

  select model, ('is_interrupted', toFloat64(is_interrupted), '1 if an apply began and has not ended', 'gauge', true)
  from last_steps
)
order by name, model
format Prometheus
