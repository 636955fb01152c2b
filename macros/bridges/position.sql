{# The position of an event of Debezium in the order in which its source commits, as one whole number: an Int128. The
   layout is that of parse_debezium (get_debezium_version_sql), so that both read one stream alike. `fields` has
   expressions for `op` and for the fields of `source`, as texts that can be null. `snapshots` has `sql`, an array of
   the initial snapshots as tuples (watermark at which its rows began to land, LSN) in this order, and the expression of
   the event's own `watermark`; none if no event is of the first transaction after one.

   The position is null if the event does not have what its connector's order needs. #}
{% macro get_position_sql(fields, snapshots=none) %}
  {%- set connector = 'ifNull(' ~ fields.connector ~ ", if(isNotNull(" ~ fields.file ~ "), 'mysql', 'postgresql'))" -%}
  {%- set kept = 'toInt128(' ~ fields.op ~ " <> 'd')" -%}
  {%- do return(
      'multiIf(' ~ connector ~ " = 'postgresql', "
      ~ versioned_collapsing._get_postgresql_position_sql(fields, snapshots, kept) ~ ', '
      ~ connector ~ " in ('mysql', 'mariadb'), " ~ versioned_collapsing._get_binlog_position_sql(fields, kept) ~ ', '
      ~ connector ~ " = 'mongodb', " ~ versioned_collapsing._get_mongodb_position_sql(fields, kept) ~ ', null)'
  ) -%}
{% endmacro %}

{# PostgreSQL writes a row before its transaction commits. `source.sequence` has the LSN of the last commit before the
   event, and `source.commit_lsn` that of the event's own transaction. A row of an incremental snapshot has no LSN, and
   is below every other event. Within a commit, rows of snapshots come first. #}
{% macro _get_postgresql_position_sql(fields, snapshots, kept) %}
  {%- set is_read = '(' ~ fields.op ~ " = 'r')" -%}
  {%- set is_unplaced = is_read ~ ' and isNull(' ~ fields.lsn ~ ')' -%}
  {%- set lsn = 'if(' ~ is_unplaced ~ ', toInt128(0), toInt128OrNull(' ~ fields.lsn ~ '))' -%}
  {%- set commit = 'if(' ~ is_unplaced ~ ', toInt128(0), coalesce(toInt128OrNull(' ~ fields.commit_lsn ~ '), '
      ~ versioned_collapsing.get_lsn_of_last_commit_sql(fields) ~ ', if(' ~ is_read ~ ', ' ~ lsn ~ ', '
      ~ versioned_collapsing._get_first_commit_sql(fields, snapshots, lsn) ~ ')))' -%}
  {%- do return(
      commit ~ " * toInt128('18446744073709551616') + (" ~ lsn ~ ' - ' ~ commit ~ ') + if(' ~ is_read
      ~ ", toInt128(0), toInt128('4611686018427387904')) + " ~ kept
  ) -%}
{% endmacro %}

{% macro get_lsn_of_last_commit_sql(fields) %}
  {%- do return('toInt128OrNull(extract(ifNull(' ~ fields.sequence ~ ", ''), '^.\"?([0-9]+)'))") -%}
{% endmacro %}

{# The first transaction after a snapshot has no commit before it. If its LSN is lower, it was open when the snapshot
   was taken, and counts as committed there. Each slot has an initial snapshot: that of an event is the last one whose
   rows began to land before it. #}
{% macro _get_first_commit_sql(fields, snapshots, lsn) %}
  {%- if snapshots is none -%}
    {%- do return('if(isNull(' ~ fields.sequence ~ '), null, ' ~ lsn ~ ')') -%}
  {%- endif -%}
  {%- set place = 'greatest(1, arrayCount(_dbt_snapshot -> _dbt_snapshot.1 <= ' ~ snapshots.watermark ~ ', '
      ~ snapshots.sql ~ '))' -%}
  {%- set snapshot = snapshots.sql ~ '[' ~ place ~ ']' -%}
  {%- set previous = snapshots.sql ~ '[' ~ place ~ ' - 1]' -%}
  {%- set is_mixed = 'ifNull(' ~ versioned_collapsing.get_is_first_transaction_sql(fields) ~ ' and ' ~ lsn ~ ' < '
      ~ snapshot ~ '.2 and ' ~ place ~ ' > 1 and ' ~ snapshot ~ '.1 in (' ~ snapshots.watermark ~ ', ' ~ previous
      ~ '.1), false)' -%}
  {%- do return(
      'if(' ~ versioned_collapsing._get_slots_are_mixed_sql(is_mixed) ~ ' or isNull(' ~ fields.sequence ~ '), null, '
      ~ 'greatest(' ~ lsn ~ ', ' ~ snapshot ~ '.2))'
  ) -%}
{% endmacro %}

{# Fails the query if the snapshot of a new slot landed at the watermark of an event, or of an earlier snapshot. #}
{% macro _get_slots_are_mixed_sql(is_mixed) -%}
  throwIf(
    {{ is_mixed }},
    {{ versioned_collapsing.quote_literal(
        'The watermark does not tell which of two initial snapshots comes before the first transaction of a slot. '
        ~ 'Pass a watermark that is higher for what landed later'
    ) }}
  )
{%- endmacro %}

{# The number of the binlog's file, the place in it, and the row in the event of the binlog. #}
{% macro _get_binlog_position_sql(fields, kept) %}
  {%- set position = "toInt128OrNull(extract(ifNull(" ~ fields.file ~ ", ''), '[.]([0-9]{1,15})$')) * "
      ~ "toInt128('10000000000000000000') + toInt128OrNull(" ~ fields.pos ~ ") * toInt128(10000000) + "
      ~ 'toInt128OrNull(ifNull(' ~ fields.row ~ ", '0')) * 10 + " ~ kept -%}
  {%- do return('if(' ~ fields.op ~ " = 'r' and isNull(" ~ fields.file ~ '), toInt128(0), ' ~ position ~ ')') -%}
{% endmacro %}

{# The seconds of the cluster time, and the number of the change in its second. #}
{% macro _get_mongodb_position_sql(fields, kept) %}
  {%- set position = 'intDiv(toInt128OrNull(' ~ fields.ts_ms ~ '), 1000) * toInt128(100000000000) + toInt128OrNull('
      ~ fields.ord ~ ') * 10 + ' ~ kept -%}
  {%- do return('if(' ~ fields.op ~ " = 'r' and isNull(" ~ fields.ord ~ '), toInt128(0), ' ~ position ~ ')') -%}
{% endmacro %}

{# What raises a position above those of the earlier servers: an epoch for each time at or before the event's. #}
{% macro get_epoch_position_sql(fields, epochs) %}
  {%- set begun = [] -%}
  {%- for beginning in epochs -%}
    {%- do begun.append(
        'toInt128(ifNull(toInt64OrNull(' ~ fields.ts_ms ~ ") * 1000 >= toUnixTimestamp64Micro(toDateTime64('"
        ~ beginning | replace('T', ' ') ~ "', 6, 'UTC')), false))"
    ) -%}
  {%- endfor -%}
  {%- do return(
      " + toInt128('332306998946228968225951765070086144') * (" ~ begun | join(' + ') ~ ')' if begun else ''
  ) -%}
{% endmacro %}

{# Whether an event is one of the first transaction after a snapshot. #}
{% macro get_is_first_transaction_sql(fields) %}
  {%- do return(
      '(' ~ fields.op ~ " <> 'r' and isNotNull(" ~ fields.sequence ~ ') and isNull(' ~ fields.commit_lsn
      ~ ') and isNull(' ~ versioned_collapsing.get_lsn_of_last_commit_sql(fields) ~ '))'
  ) -%}
{% endmacro %}

{# The position, or a stop if there is none. #}
{% macro get_known_position_sql(position) -%}
  if(
    throwIf(isNull({{ position }}), {{ versioned_collapsing.quote_literal(
        'An event has no position in the order of commits. PostgreSQL: land source.sequence and source.lsn. MySQL and '
        ~ 'MariaDB: source.file, source.pos and source.row. Other connectors: pass version'
    ) }}),
    toInt128(0),
    assumeNotNull({{ position }})
  )
{%- endmacro %}
