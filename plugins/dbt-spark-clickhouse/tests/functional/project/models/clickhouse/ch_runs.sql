{{ config(materialized='incremental', incremental_strategy='append', order_by='run') }}

select
    '{{ is_incremental.macro.package_name if execute }}' as is_incremental_of,
    '{{ partition_cols.macro.package_name if execute }}' as partition_cols_of,
    {{ "(select max(run) + 1 from " ~ this ~ ")" if is_incremental() else 1 }} as run
