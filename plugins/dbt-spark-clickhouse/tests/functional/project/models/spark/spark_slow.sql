{# Each row is a task, and a file: there is time to kill it halfway. #}
select
    id,
    reflect('java.lang.Thread', 'sleep', cast(value as bigint)) as slept
from range(0, 60, 1, 60)
cross join (select /*+ broadcast */ value from {{ source('landing', 'pause') }})
