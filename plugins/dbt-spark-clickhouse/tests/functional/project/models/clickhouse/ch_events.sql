{{ config(materialized='incremental', order_by='run', incremental_strategy='append') }}

select
    '{{ "incremental" if is_incremental() else "full" }}' as mode,
    {% if is_incremental() %}(select max(run) + 1 from {{ this }}){% else %}1{% endif %} as run
