{{ config(materialized='incremental', partition_by='run') }}

select
    {{ range(100) | length }} as size,
    '{{ "incremental" if is_incremental() else "full" }}' as mode,
    {% if is_incremental() %}(select max(run) + 1 from {{ this }}){% else %}1{% endif %} as run
