select throwIf(count() = 0, 'It needs repair.') as failed
from system.tables
where database = '{{ target.schema }}' and name = 'repairs'
