select
  *,
  -- A line of a file never changes: its one version is 1.
  cast(1 as bigint) as _version
from (
  {{ quarantined_lines(ref('stg_shop__customers'), 'customers') }}
  union all
  {{ quarantined_lines(ref('stg_shop__orders'), 'orders') }}
  union all
  {{ quarantined_lines(ref('stg_shop__order_items'), 'order_items') }}
)
