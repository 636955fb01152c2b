{# A row of values at the edges of each type, and a row of nulls; nested types cannot be null. #}
select
    id,
    if(id = 1, cast(127 as tinyint), null) as a_tinyint,
    if(id = 1, cast(-32768 as smallint), null) as a_smallint,
    if(id = 1, 2147483647, null) as an_int,
    if(id = 1, -9223372036854775808, null) as a_bigint,
    if(id = 1, cast(1.5 as float), null) as a_float,
    if(id = 1, cast(0.1 as double), null) as a_double,
    if(id = 1, cast('-12345678901234567.89' as decimal(19, 2)), null) as a_decimal,
    if(id = 1, cast(repeat('9', 38) as decimal(38, 0)), null) as a_wide_decimal,
    if(id = 1, true, null) as a_boolean,
    if(id = 1, '日本 \'quoted\' \\ back', null) as a_string,
    if(id = 1, x'00ff10', null) as a_binary,
    if(id = 1, date'1500-02-03', null) as an_early_date,
    if(id = 1, date'2299-12-31', null) as a_late_date,
    if(id = 1, timestamp'1500-01-02 03:04:05.678901', null) as an_early_timestamp,
    if(id = 1, timestamp'2999-12-31 23:59:59.999999', null) as a_late_timestamp,
    if(id = 1, timestamp_ntz'2024-05-06 07:08:09.123456', null) as a_timestamp_ntz,
    if(id = 1, array(1, null, 3), array()) as an_array,
    if(id = 1, map('a', 1, 'b', null), map()) as a_map,
    if(id = 1, map(named_struct('x', 1), 'one'), map()) as a_map_by_struct,
    named_struct('x', if(id = 1, 1, null), 'y', array(named_struct('z', 'deep'))) as a_struct
from values (1), (2) as ids (id)
