{# A row of values that folders cannot be named with as they are, and a row of nulls. #}
{{ config(partition_by=['a_date', 'a_timestamp', 'a_decimal', 'a_boolean', 'an_int', 'a_string']) }}

select
    id,
    if(id = 1, date'1950-02-03', null) as a_date,
    if(id = 1, timestamp'2024-05-06 07:08:09.123456', null) as a_timestamp,
    if(id = 1, cast('-1.25' as decimal(9, 2)), null) as a_decimal,
    if(id = 1, true, null) as a_boolean,
    if(id = 1, -7, null) as an_int,
    if(id = 1, 'a/b=c %20 日本 \'q\'', null) as a_string
from values (1), (2) as ids (id)
