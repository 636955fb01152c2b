{{ config(event_time='happened_at') }}

select id, timestamp'2024-01-01 12:00:00' + make_dt_interval(cast(id as int)) as happened_at
from range(3)
