{{ config(enabled=project_name == 'versioned_collapsing') }}

-- Rows that wait to collapse, by partition, the most first. If a partition has several parts, merges remove these rows
-- in time. If it has one part, only `optimize table … partition id … final` does.
select
  _partition_id as partition_id,
  count() as stored_rows, -- noqa: VC01
  {{ signed_count() }} as live_rows,
  stored_rows - live_rows as waiting_rows,
  round(waiting_rows / stored_rows, 3) as waiting_share,
  uniqExact(_part) as parts -- noqa: VC02
from {{ ref('orders') }}
group by partition_id
order by waiting_rows desc
