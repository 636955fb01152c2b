{{ config(enabled=project_name == 'versioned_collapsing') }}

-- Rows that wait to collapse, by partition, those with most first. Where there are several parts, a merge takes them
-- away in time; where there is one, nothing does but `optimize table … partition id … final`.
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
