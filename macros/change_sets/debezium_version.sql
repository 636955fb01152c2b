{# What orders the changes of a row: by default the commits of the source, as the connector of the line sends them, or a
   position by name, or one of the row's own columns. #}
{% macro get_debezium_version_option_problems(columns, version, servers, epochs) %}
  {%- set names = versioned_collapsing.get_debezium_orders().names -%}
  {%- set lists = {'servers': servers, 'epochs': epochs} -%}
  {%- set problems = versioned_collapsing.get_list_problems(lists, ['servers', 'epochs']) -%}
  {%- if problems -%}{%- do return(problems) -%}{%- endif -%}
  {%- if not versioned_collapsing.are_epochs(epochs) -%}
    {%- do problems.append(
        "epochs is " ~ epochs ~ "; it takes at most 255 beginnings in growing order: times of the source in UTC, such "
        ~ "as '2026-01-05 10:00:00', or, for events without source.ts_ms, numbers of batches."
    ) -%}
  {%- elif epochs and version is not none and version not in names -%}
    {%- do problems.append(
        "epochs is " ~ epochs ~ ", but the version is the column " ~ version ~ ". Only positions have epochs: remove "
        ~ "it."
    ) -%}
  {%- endif -%}
  {%- if version == 'source.lsn' -%}
    {%- do problems.append(
        "version is 'source.lsn', the place of a row in PostgreSQL's log. Transactions commit in another order, so "
        ~ "rows of racing transactions would be lost. Leave version out: the order of commits is in source.sequence. "
        ~ "Only if your events lack that, set version='source.lsn_despite_races'."
    ) -%}
  {%- elif version == 'source.gtid' and not servers -%}
    {%- do problems.append(
        "servers is empty. Transactions of different servers have no common order. With version 'source.gtid', list "
        ~ "the UUIDs of the servers in the order in which they were the primary."
    ) -%}
  {%- elif version is not none and version not in names and version not in columns -%}
    {%- do problems.append(
        "version is '" ~ version ~ "'; it takes '" ~ names | join("', '") ~ "' or one of columns. Leave it out to take "
        ~ "the order of commits that the connector sends."
    ) -%}
  {%- elif version is not none and version not in names -%}
    {%- do problems.extend(versioned_collapsing.get_version_column_problems(columns, version)) -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}

{# Times and numbers of batches grow; a time has a month and a day that can be. #}
{% macro are_epochs(epochs) %}
  {%- set kinds = {'batches': epochs | select('integer') | list, 'moments': epochs | select('string') | list} -%}
  {%- for moment in kinds.moments
      if not modules.re.fullmatch(
          '\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])[ T]([01]\\d|2[0-3])(:[0-5]\\d){2}([.]\\d{1,6})?', moment
      ) -%}
    {%- do return(false) -%}
  {%- endfor -%}
  {%- do return(
      kinds.values() | map('length') | sum == epochs | length and epochs | length <= 255
      and kinds.batches == kinds.batches | unique | sort and kinds.moments == kinds.moments | unique | sort
  ) -%}
{% endmacro %}

{# Debezium's positions: the one of each connector, and all that `version` can name. #}
{% macro get_debezium_orders() %}
  {%- set connectors = {
      'postgresql': 'source.sequence',
      'mysql': 'source.pos',
      'mariadb': 'source.pos',
      'mongodb': 'source.ord',
      'sqlserver': 'source.commit_lsn',
      'oracle': 'source.commit_scn',
  } -%}
  {%- do return({
      'connectors': connectors,
      'names': (connectors.values() | unique | list) + ['source.gtid', 'source.lsn_despite_races'],
  }) -%}
{% endmacro %}

{# The fields of `source` that say where an event stands, when it was, and of which table it is. #}
{% macro get_source_fields() %}
  {%- do return([
      'connector', 'db', 'schema', 'table', 'collection', 'ts_ms', 'sequence', 'lsn', 'commit_lsn', 'change_lsn',
      'event_serial_no', 'file', 'pos', 'row', 'gtid', 'ord', 'scn', 'commit_scn', 'rs_id', 'ssn',
  ]) -%}
{% endmacro %}

{% macro warn_of_races(model, version) %}
  {%- if execute and version == 'source.lsn_despite_races' -%}
    {%- do exceptions.warn(
        model.unique_id ~ ": version is 'source.lsn_despite_races'. Events without source.sequence are ordered by "
        ~ "their place in PostgreSQL's log and not by commits. Where transactions race for a key, or are open while a "
        ~ "snapshot is taken, rows can stay wrong."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# The version of an event: one whole number that grows in the order in which the source commits. By default the
   connector that the line names decides how it is made.

   The number is text of a fixed number of digits, which has the same order: ClickHouse can make an integer of text, but
   cannot compare it with Spark's decimals. SQL Server and Oracle need 76 digits, which fit UInt256. The others have 38,
   which fit Int128: the position is below 2^118, and the epoch stands above it. The last digit or bit says that the
   event is no delete: an update of the primary key is a delete and an insert at one position, and where the key of the
   model is another column, both have the same key. #}
{% macro get_debezium_version_sql(version, servers, epochs) %}
  {%- set epoch = versioned_collapsing._get_epoch_sql(epochs) -%}
  {%- set orders = versioned_collapsing.get_debezium_orders() -%}
  {%- if version is none -%}
    {%- set cases = [] -%}
    {%- for connector, order in orders.connectors.items() -%}
      {%- do cases.append("when '" ~ connector ~ "' then "
          ~ versioned_collapsing._get_order_sql(order, servers, epoch)) -%}
    {%- endfor -%}
    {%- do return('case _source.connector ' ~ cases | join(' ') ~ ' end') -%}
  {%- elif version in orders.names -%}
    {%- do return(versioned_collapsing._get_order_sql(version, servers, epoch)) -%}
  {%- endif -%}
  {%- do return(version) -%}
{% endmacro %}

{# The number of epochs that have begun: how many of their beginnings are not above the time of the event, or the batch
   of its line. #}
{% macro _get_epoch_sql(epochs) %}
  {%- set begun = [] -%}
  {%- for beginning in epochs -%}
    {%- do begun.append(
        'if(_batch >= ' ~ beginning ~ ', 1, 0)' if beginning is integer
        else "if(try_cast(_source.ts_ms as bigint) >= unix_millis(timestamp '" ~ beginning ~ "Z'), 1, 0)"
    ) -%}
  {%- endfor -%}
  {%- do return('(' ~ begun | join(' + ') ~ ')' if begun else '') -%}
{% endmacro %}

{# The time of an event by which it is compared with others. Rows of incremental snapshots have none, because they have
   no position, and neither has the first transaction after a snapshot, whose commit no line tells. #}
{% macro get_event_time_sql(version) %}
  {%- set position = 'coalesce(_source.lsn, _source.file, _source.ord, _source.commit_lsn, _source.scn)' -%}
  {%- set is_unplaced = ["_op = 'r'" ~ (' and ' ~ position ~ ' is null' if version != 'source.gtid')] -%}
  {%- if version in (none, 'source.sequence', 'source.lsn_despite_races') -%}
    {%- do is_unplaced.append(versioned_collapsing.get_first_transaction_lsn_sql() ~ ' is not null') -%}
  {%- endif -%}
  {%- do return('if(' ~ is_unplaced | join(' or ') ~ ', null, try_cast(_source.ts_ms as bigint))') -%}
{% endmacro %}

{% macro _get_order_sql(order, servers, epoch) %}
  {%- set is_kept = "if(_op = 'd', '0', '1')" -%}
  {%- set digits = {
      'source.pos': [
          "nullif(regexp_extract(_source.file, '[.]([0-9]{1,15})$', 1), '')",
          versioned_collapsing._get_digits_sql('_source.pos', 12),
          versioned_collapsing._get_digits_sql("coalesce(_source.row, '0')", 6),
      ],
      'source.gtid': [
          'nullif(array_position(' ~ versioned_collapsing.get_text_array_sql(servers | map('lower'))
              ~ ", lower(substring_index(_source.gtid, ':', 1))), 0)",
          versioned_collapsing._get_digits_sql("substring(_source.gtid, locate(':', _source.gtid) + 1)", 19),
          versioned_collapsing._get_digits_sql('_transaction.total_order', 12),
      ],
      'source.ord': [
          "cast(try_cast(_source.ts_ms as bigint) div 1000 as string)",
          versioned_collapsing._get_digits_sql('_source.ord', 10),
      ],
      'source.commit_lsn': [
          versioned_collapsing._get_hexadecimal_sql(
              "if(_op = 'r', coalesce(_source.commit_lsn, '0:0:0'), _source.commit_lsn)", ':'
          ),
          versioned_collapsing._get_hexadecimal_sql("coalesce(_source.change_lsn, '0:0:0')", ':'),
          versioned_collapsing._get_digits_sql("coalesce(_source.event_serial_no, '0')", 10),
      ],
      'source.commit_scn': [
          versioned_collapsing._get_digits_sql("if(_op = 'r', coalesce(_source.scn, '0'), _source.commit_scn)", 20),
          versioned_collapsing._get_digits_sql("coalesce(_source.scn, '0')", 20),
          versioned_collapsing._get_hexadecimal_sql(
              "coalesce(substring(nullif(trim(_source.rs_id), ''), 3), '0.0.0')", '[.]'
          ),
          versioned_collapsing._get_digits_sql("coalesce(_source.ssn, '0')", 6),
      ],
  } -%}
  {%- if order in ('source.sequence', 'source.lsn_despite_races') -%}
    {%- do return(versioned_collapsing._get_number_sql(
        versioned_collapsing.get_postgresql_position_sql(
            versioned_collapsing._get_commit_sql(order != 'source.sequence'), '_dbt_lsn', '_op'
        ),
        epoch,
    )) -%}
  {%- elif order in ('source.commit_lsn', 'source.commit_scn') -%}
    {%- do return("lpad(concat(" ~ ((["lpad(" ~ epoch ~ ", 3, '0')"] if epoch else []) + digits[order] + [is_kept])
        | join(', ') ~ "), 76, '0')") -%}
  {%- endif -%}
  {%- set position = 'concat(' ~ (digits[order] + [is_kept]) | join(', ') ~ ')' -%}
  {%- set unset = {
      'source.gtid': "_op = 'r' and nullif(_source.gtid, '') is null",
      'source.pos': "_op = 'r' and _source.file is null",
      'source.ord': "_op = 'r' and _source.ord is null",
  }.get(order) -%}
  {%- if unset -%}
    {%- set position = "if(" ~ unset ~ ", '0', " ~ position ~ ')' -%}
  {%- endif -%}
  {%- do return(
      versioned_collapsing._get_number_sql('cast(' ~ position ~ ' as decimal(38,0))', epoch) if epoch
      else 'lpad(' ~ position ~ ", 38, '0')"
  ) -%}
{% endmacro %}

{# Text as a fixed number of digits; null for text that is not digits, or that has more of them. #}
{% macro _get_digits_sql(text, length) %}
  {%- do return('if(' ~ text ~ " rlike '^[0-9]{1," ~ length ~ "}$', lpad(" ~ text ~ ', ' ~ length ~ ", '0'), null)") -%}
{% endmacro %}

{# A position of three hexadecimal numbers, of at most 8, 8 and 4 digits, as 25 decimal digits; null for other text. #}
{% macro _get_hexadecimal_sql(text, separator) %}
  {%- set parts = [] -%}
  {%- for length in (10, 10, 5) -%}
    {%- set part = 'split(' ~ text ~ ", '" ~ separator ~ "')[" ~ loop.index0 ~ ']' -%}
    {%- do parts.append('lpad(conv(' ~ part ~ ', 16, 10), ' ~ length ~ ", '0')") -%}
  {%- endfor -%}
  {%- set hex = '[0-9a-fA-F]' -%}
  {%- do return(
      'if(' ~ text ~ " rlike '^" ~ hex ~ '{1,8}' ~ separator ~ hex ~ '{1,8}' ~ separator ~ hex ~ "{1,4}$', concat("
      ~ parts | join(', ') ~ '), null)'
  ) -%}
{% endmacro %}

{# A position below 2^118 with the epoch above it, as text of 38 digits. #}
{% macro _get_number_sql(position, epoch) %}
  {%- set number = position if not epoch
      else 'cast(' ~ epoch ~ ' as decimal(3,0)) * cast(332306998946228968225951765070086144 as decimal(36,0)) + '
          ~ position -%}
  {%- do return('lpad(cast(' ~ number ~ " as string), 38, '0')") -%}
{% endmacro %}

{# A position of PostgreSQL as a number. Within a commit, rows of a snapshot come first. Both LSNs must be below 2^54,
   which is 18 petabytes of log. LSNs are multiples of 8, so that one bit is free. #}
{% macro get_postgresql_position_sql(commit, lsn, op) %}
  {%- do return(
      'if(' ~ commit ~ ' between 0 and 18014398509481983 and ' ~ lsn ~ ' between 0 and 18014398509481983, '
      ~ 'cast(' ~ commit ~ ' as decimal(17,0)) * cast(18446744073709551616 as decimal(20,0)) + ('
      ~ lsn ~ ' - ' ~ commit ~ ' + if(' ~ op ~ " = 'r', 0L, 4611686018427387904L)"
      ~ ' + if(' ~ op ~ " = 'd', 0L, 1L)), null)"
  ) -%}
{% endmacro %}

{# PostgreSQL writes a row before its transaction commits, and it is commits that have an order. `source.sequence` has
   the LSN of the last commit before the event and that of the event (SourceInfo.sequence() of Debezium's connector);
   `source.commit_lsn`, which newer versions send, is that of the event's own transaction. A row of a snapshot without
   them stands where the snapshot was taken. The first transaction after a snapshot has no commit before it: see
   get_first_transaction_lsn_sql. A row of an incremental snapshot has no position. It is below every other event. #}
{% macro _get_commit_sql(despite_races) %}
  {%- do return(
      "if(_op = 'r' and _source.lsn is null, 0L, coalesce(try_cast(_source.commit_lsn as bigint), _dbt_last_commit, "
      ~ ('_dbt_lsn' if despite_races else "if(_op <> 'r' and _source.sequence is null, null, _dbt_lsn)") ~ '))'
  ) -%}
{% endmacro %}

{# The LSN of an event and that of the last commit before it, as columns that a parser computes once for a line. There
   are none if the version needs no LSN. #}
{% macro get_lsn_columns(version) %}
  {%- if version not in (none, 'source.sequence', 'source.lsn_despite_races') -%}{%- do return({}) -%}{%- endif -%}
  {%- set lsn = versioned_collapsing.get_typed_sql('_source.lsn', 'bigint', none) -%}
  {%- do return({
      '_dbt_lsn': "if(_op = 'r' and _source.lsn is null, 0L, " ~ lsn ~ ')',
      '_dbt_last_commit': "try_cast(nullif(regexp_extract(_source.sequence, '^.\"?([0-9]+)', 1), '') as bigint)",
  }) -%}
{% endmacro %}

{# The LSN of an event of the first transaction after a snapshot. Its commit is above the snapshot, and no line says
   where that was. It was open when the snapshot was taken if this LSN is below that of the snapshot. #}
{% macro get_first_transaction_lsn_sql() %}
  {%- do return(
      "if(_op <> 'r' and _source.commit_lsn is null and _source.sequence is not null and _dbt_last_commit is null, "
      ~ '_dbt_lsn, null)'
  ) -%}
{% endmacro %}

{# The LSN of a row of an initial snapshot, which has no commit before it either. A blocking snapshot is taken in the
   middle of a stream, after the first transaction. #}
{% macro get_initial_snapshot_lsn_sql() %}
  {%- do return("if(_op = 'r' and _dbt_last_commit is null, _dbt_lsn, null)") -%}
{% endmacro %}

{# The lines with the versions of a first transaction raised above its snapshot: as if its commit were there. #}
{% macro get_lines_with_commits_sql(lines, events, columns) %}
  {%- if '_first_lsn' not in columns -%}{%- do return(lines) -%}{%- endif -%}
  {%- set snapshot = versioned_collapsing._get_snapshot_mark(events) -%}
  {%- set raised -%}
    (
      select
        * except (_version),
        if(
          _first_lsn < {{ snapshot }},
          lpad(cast(
            cast(_version as decimal(38,0))
            + cast({{ snapshot }} - _first_lsn as decimal(17,0)) * cast(18446744073709551615 as decimal(20,0))
          as string), 38, '0'),
          _version
        ) as _version
      from {{ lines.relation }}
    )
  {%- endset -%}
  {%- do return(dict(lines, relation=raised)) -%}
{% endmacro %}

{# What stands in the SQL of a change set for the LSN of the last snapshot up to the batch of a line. It is null until
   the materialization puts it in. #}
{% macro _get_snapshot_mark(events) %}
  {%- do return('cast(null /* snapshot of ' ~ events.identifier ~ ' */ as bigint)') -%}
{% endmacro %}

{# For each input of a change set with a first transaction among the batches that are pending, the snapshots up to
   there: batch and LSN, the last one first. They can be in an earlier batch, so that the landing zone is searched, but
   only lines of snapshots are parsed. `code` is the SQL of the change set, which says whether it needs them. #}
{% macro read_snapshots(model, inputs, code) %}
  {%- set found = {} -%}
  {%- for input in inputs if versioned_collapsing._get_snapshot_mark(input.relation) in code -%}
    {%- set first = {} -%}
    {%- for batch, row in input.get('found', {}).items() if row.first_lsn is not none -%}
      {%- do first.update({batch: row.first_lsn | int}) -%}
    {%- endfor -%}
    {%- if first -%}
      {%- set query -%}
        select _batch as batch, max(_snapshot_lsn) as lsn, min(_snapshot_lsn) as lowest
        from {{ input.relation }}
        where _batch <= {{ first | max }}
          and _raw_line rlike r'"(__)?op"\s*+:\s*+"r"'
        group by _batch
        having lsn is not null
        order by _batch desc
      {%- endset -%}
      {%- set snapshots = run_query(query).rows -%}
      {%- do versioned_collapsing._validate_no_mixed_slots(model, input.relation, first, snapshots) -%}
      {%- do found.update({versioned_collapsing._get_snapshot_mark(input.relation): snapshots}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(found) -%}
{% endmacro %}

{# All rows of an initial snapshot have one LSN. If a batch has the snapshot of a new slot and a first transaction with
   a lower LSN, no line says whether that comes after this snapshot or after an earlier one. #}
{% macro _validate_no_mixed_slots(model, events, first, snapshots) %}
  {%- for row in snapshots if first.get(row.batch | int, row.lsn | int) < row.lsn | int -%}
    {%- set others = [row.lowest] -%}
    {%- for other in snapshots if other.batch | int < row.batch | int -%}
      {%- do others.extend([other.lsn, other.lowest]) -%}
    {%- endfor -%}
    {%- if others | reject('equalto', row.lsn) | list -%}
      {%- do versioned_collapsing.raise_problems(model.unique_id, [
          "batch " ~ row.batch ~ " of " ~ events.identifier ~ " has the initial snapshot of a new slot, at LSN "
          ~ row.lsn ~ ", and the first transaction of a slot. No line says whether the transaction comes before or "
          ~ "after the snapshot. Land three batches: the lines before the snapshot, those of the snapshot, and those "
          ~ "after it."
      ], 'a change set') -%}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}

{# The SQL of a change set with the LSNs of these snapshots. #}
{% macro get_code_after_snapshots(code, snapshots) %}
  {%- set found = namespace(code=code) -%}
  {%- for mark, rows in snapshots.items() -%}
    {%- set cases = [] -%}
    {%- for row in rows -%}
      {%- do cases.append('when _batch >= ' ~ row['batch'] ~ ' then ' ~ row['lsn']) -%}
    {%- endfor -%}
    {%- if cases -%}
      {%- set found.code = found.code | replace(mark, 'cast(case ' ~ cases | join(' ') ~ ' end as bigint)') -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(found.code) -%}
{% endmacro %}

{# Why an event has no version. If the connector decides, what the line of each one lacks. #}
{% macro get_debezium_version_problems(version, epochs) %}
  {%- set orders = versioned_collapsing.get_debezium_orders() -%}
  {%- set times = [(
      'try_cast(_source.ts_ms as bigint) is null', "'source.ts_ms is missing, and epochs has times'"
  )] if epochs | select('string') | list else [] -%}
  {%- if version is not none and version not in orders.names -%}
    {%- do return([versioned_collapsing.get_missing_version_problem(version)]) -%}
  {%- elif version is not none -%}
    {%- do return(times + versioned_collapsing._get_order_problems(version)) -%}
  {%- endif -%}
  {%- set problems = times + [
      ('_source.connector is null', "'source.connector is missing'"),
      (
          "_source.connector not in ('" ~ orders.connectors | join("', '") ~ "')",
          "concat('source.connector is ', _source.connector, ', which has no known order of commits')",
      ),
  ] -%}
  {%- for connector, order in orders.connectors.items() -%}
    {%- for condition, reason in versioned_collapsing._get_order_problems(order) -%}
      {%- do problems.append(("_source.connector = '" ~ connector ~ "' and " ~ condition, reason)) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{% macro _get_order_problems(order) %}
  {%- set lsn = [
      ("_source.lsn is null and _op <> 'r'", "'source.lsn is missing'"),
      ('_source.lsn is not null and _dbt_lsn is null', "'source.lsn does not fit bigint'"),
  ] -%}
  {%- set commits = [(
      "_op <> 'r' and coalesce(_source.sequence, _source.commit_lsn) is null", "'source.sequence is missing'"
  )] if order == 'source.sequence' else [] -%}
  {%- do return({
      'source.sequence': lsn + commits + [('_version is null', "'source.sequence is no position'")],
      'source.lsn_despite_races': lsn + [('_version is null', "'source.lsn is no position'")],
      'source.pos': [
          ("_source.file is null and _op <> 'r'", "'source.file is missing'"),
          ("_source.pos is null and _op <> 'r'", "'source.pos is missing'"),
          ('_version is null', "'source.file and source.pos are no position'"),
      ],
      'source.gtid': [
          ("nullif(_source.gtid, '') is null and _op <> 'r'", "'source.gtid is missing'"),
          ('_version is null and _transaction.total_order is null', "'transaction.total_order is missing'"),
          ("_source.gtid like '%:%:%'", "'source.gtid has a tag, whose transactions have no order with others'"),
          ('_version is null', "'source.gtid is no transaction of a known server'"),
      ],
      'source.ord': [('_version is null', "'source.ts_ms and source.ord are no position'")],
      'source.commit_lsn': [('_version is null', "'source.commit_lsn and source.change_lsn are no position'")],
      'source.commit_scn': [('_version is null', "'source.commit_scn and source.scn are no position'")],
  }[order]) -%}
{% endmacro %}
