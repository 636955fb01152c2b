{# One row of values at the edges of each type, one of nulls in every scalar. #}
select
    id,
    cast(if(id = 1, 127, null) as tinyint) as a_tinyint,
    cast(if(id = 1, -32768, null) as smallint) as a_smallint,
    cast(if(id = 1, 2147483647, null) as int) as an_int,
    cast(if(id = 1, -9223372036854775808, null) as bigint) as a_bigint,
    cast(if(id = 1, 1.5, null) as float) as a_float,
    cast(if(id = 1, 0.1, null) as double) as a_double,
    cast(if(id = 1, '-12345678901234567.89', null) as decimal(19, 2)) as a_decimal,
    cast(if(id = 1, '99999999999999999999999999999999999999', null) as decimal(38, 0)) as a_wide_decimal,
    if(id = 1, true, null) as a_boolean,
    if(id = 1, '日本 ''quoted'' \\ back', null) as a_string,
    if(id = 1, x'00ff10', null) as a_binary,
    if(id = 1, date'1500-02-03', null) as an_early_date,
    if(id = 1, date'2299-12-31', null) as a_late_date,
    if(id = 1, timestamp'1500-01-02 03:04:05.678901', null) as an_early_timestamp,
    if(id = 1, timestamp'2999-12-31 23:59:59.999999', null) as a_late_timestamp,
    if(id = 1, timestamp_ntz'2024-05-06 07:08:09.123456', null) as a_timestamp_ntz,
    if(id = 1, array(1, null, 3), array()) as an_array,
    if(id = 1, map('a', 1, 'b', null), map()) as a_map,
    if(id = 1, named_struct('x', 1, 'y', array(named_struct('z', 'deep'))), named_struct('x', null, 'y', array())) as a_struct
from values (1), (2) as ids (id)
