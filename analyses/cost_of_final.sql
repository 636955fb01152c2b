{{ config(enabled=project_name == 'versioned_collapsing') }}

-- What a sum by status reads with signs, and what it reads with FINAL. FINAL also needs the sorting key and the
-- version, and merges the rows of every partition that has more than one part.
with by_partition as (
  select
    _partition_id as partition_id,
    uniqExact(_part) as parts, -- noqa: VC02
    count() as stored_rows, -- noqa: VC01
    sum(byteSize(status, amount, _sign)) as bytes_of_signed_sums,
    sum(byteSize(status, amount, _sign, order_id, _version)) as bytes_of_final
  from {{ ref('orders') }}
  group by partition_id
)

select
  sum(by_partition.stored_rows) as all_rows,
  sumIf(by_partition.stored_rows, by_partition.parts > 1) as rows_that_final_merges,
  sum(by_partition.bytes_of_signed_sums) as all_bytes_of_signed_sums,
  sum(by_partition.bytes_of_final) as all_bytes_of_final,
  round(all_bytes_of_final / all_bytes_of_signed_sums, 2) as times_as_many
from by_partition
