select events.id as id, events.happened_at as happened_at, notes.note as note
from {{ ref('spark_events') }} as events
inner join {{ ref('ch_notes') }} as notes on events.id = notes.id
