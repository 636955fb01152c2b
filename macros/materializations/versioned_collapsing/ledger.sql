{# The condition that the counts in a row of the ledger add up. Each line must have been counted as something, and each
   event, and each change that belongs to no event, must have an outcome. #}
{% macro get_adds_up_sql() -%}
  ifNull(lines = blank + quarantined + ignored + events, true)
    and events + synthetic = {{ versioned_collapsing.get_outcomes_of_events() | join(' + ') }}
{%- endmacro %}

{# The possible outcomes of an event. No event has two of them. #}
{% macro get_outcomes_of_events() %}
  {%- do return([
      'superseded', 'truncates', 'states', 'deletes', 'duplicates', 'late', 'conflicts', 'tombstoned', 'rebalanced',
      'forgotten'
  ]) -%}
{% endmacro %}

{# The columns of the ledger that these sums use. #}
{% macro get_accounted_names() %}
  {%- do return(
      versioned_collapsing.get_line_count_names() + ['synthetic'] + versioned_collapsing.get_outcomes_of_events()
  ) -%}
{% endmacro %}

{# The condition that a row of the ledger is about a completed apply to this table, and accounts for its events. #}
{% macro get_has_account_sql(table) -%}
  target_uuid = {{ versioned_collapsing.get_table_uuid_sql(table) }}
    and status in ('applied', 'partial')
    and events is not null
{%- endmacro %}

{# Makes sure that the ledger exists. #}
{% macro prepare_ledger(target_relation, tables=none) %}
  {%- set ledger = versioned_collapsing.get_ledger_relation(target_relation) -%}
  {%- set found = versioned_collapsing.read_tables([ledger]) if tables is none else tables -%}
  {%- if ledger.identifier not in found -%}
    {%- do versioned_collapsing._create_ledger(target_relation) -%}
  {%- endif -%}
{% endmacro %}

{% macro _create_ledger(target_relation) %}
  {%- set status = 'chunk staged, started, block applied, applied, adopted, rebalanced, forgotten, filled (a view), or '
      ~ 'partial (a run with --empty or --sample)' -%}
  {%- set definition = 'For a view: hash of its definition. With a journal: hashes of the views on the table. Also '
      ~ 'whether deletes were remembered' -%}
  {%- set synthetic = 'Deletes that belong to no event: of an old key, of a row that an extract lacks, of a truncated '
      ~ 'row' -%}
  {%- set apply = 'Number of the apply; grows with each that publishes rows. 0: nothing published. For a view: number '
      ~ 'of the last apply that it has used' -%}
  {%- set watermarks = 'How far the landing tables were read; times in UTC' -%}
  {%- set ledger = versioned_collapsing.get_ledger_relation(target_relation) -%}
  {% call statement('create_ledger') -%}
    create table if not exists {{ ledger }} {{ on_cluster_clause(target_relation) }} (
      model String comment 'Name of the model',
      target_uuid UUID comment 'UUID of the target table; a rebuilt table has a new one',
      invocation_id String comment 'ID of the dbt invocation',
      run_id String comment 'ID of one apply to one model',
      status LowCardinality(String) comment {{ versioned_collapsing.quote_literal(status) }},
      at DateTime64(6, 'UTC') comment 'When the row was written',
      batches Array(Tuple(batch UInt64, hash String)) comment 'Batches of the landing zone that the change set held',
      lines Nullable(UInt64) comment 'Lines of the batches; null if the change set does not provide them',
      blank Nullable(UInt64) comment 'Lines that carry no information',
      quarantined Nullable(UInt64) comment 'Lines that cannot be used',
      ignored Nullable(UInt64) comment 'Messages that are not changes',
      events Nullable(UInt64) comment 'Events to account for; null in rows without an account',
      superseded UInt64 comment 'Events below a later event of their key in the same change set',
      synthetic UInt64 comment {{ versioned_collapsing.quote_literal(synthetic) }},
      truncates UInt64 comment 'Truncates',
      apply UInt64 comment {{ versioned_collapsing.quote_literal(apply) }},
      signed_rows UInt64 comment 'With the status started: rows that the apply publishes, and feeds',
      landed_at Array(DateTime64(6, 'UTC')) comment 'When the last file of each batch was written; empty if not known',
      taken_at Nullable(DateTime64(6, 'UTC')) comment 'When Spark began to make the change set',
      change_set String comment 'ID of the change set, which it has from its build; empty if it has none',
      watermarks Array(Tuple(landing String, uuid UUID, watermark String)) comment {{
        versioned_collapsing.quote_literal(watermarks) }},
      rows_read UInt64 comment 'Rows of the change set',
      keys UInt64 comment 'Keys of the change set',
      states UInt64 comment 'State rows written',
      cancels UInt64 comment 'Cancel rows written',
      deletes UInt64 comment 'Deletes applied',
      duplicates UInt64 comment 'Changes that repeat a change',
      late UInt64 comment 'Changes below the version of the live row',
      unmerged UInt64 comment 'Partial changes that could not be combined: late, or of a key that does not exist',
      conflicts UInt64 comment 'Changes at the version of the live row with a different payload',
      tombstoned UInt64 comment 'Changes at or below the version at which their key was deleted',
      rebalanced UInt64 comment 'Unbalanced keys that were rebalanced',
      forgotten UInt64 comment 'Changes of keys that the operation forget has removed',
      milliseconds UInt64 comment 'Milliseconds from the start of the model to this row',
      publish LowCardinality(String) comment 'How rows are published: atomic, journal, stream; not known yet: empty',
      block UInt32 comment 'With a journal: number of the next block',
      chunk UInt32 comment 'Chunk that this row describes',
      chunks UInt32 comment 'Number of chunks of the apply',
      is_partial Bool comment 'Whether the run used --empty or --sample',
      truncated_at String comment 'Version at which the table was truncated; empty if it was not',
      source_uuid UUID comment 'For a view: UUID of the table that it follows',
      definition String comment {{ versioned_collapsing.quote_literal(definition) }}
    )
    engine = {{ versioned_collapsing.get_engine_name(ledger, 'MergeTree') }}
    order by (model, at)
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
{% endmacro %}

{# For the `loaded_at_query` of a source: when a model's table was last brought up to date. #}
{% macro get_last_apply_sql(ledger, model_name) -%}
  select max(at) from {{ ledger }} where model = {{ versioned_collapsing.quote_literal(model_name) }}
      and status = 'applied'
{%- endmacro %}

{# How far an apply was when its run died. #}
{% macro get_progress_of(unfinished) %}
  {%- do return(dict(
      versioned_collapsing.get_initial_progress(),
      chunk=unfinished.chunk,
      block=unfinished.block,
      is_journal=unfinished.is_journal,
      definition=unfinished.definition,
      number=unfinished.number
  )) -%}
{% endmacro %}

{# The progress of an apply, as recorded in the ledger. Each step makes a new one, for example dict(progress, chunk=2).

   - chunk: the chunk to begin with, or the last one that was decided; counts: those of the chunks so far
   - is_journal: whether rows are inserted block by block instead of attached
   - definition: hashes of the views that have the rows by way of a journal
   - block: the block of the journal to begin with
   - change_count: how many changes are staged
   - decided: the counts of the rows that are staged to be published, if they are known
   - line_counts: the lines and events to account for
   - truncated_at: an expression for the version at which the table was truncated, or none
   - number: the number of the apply, once any of its rows are published or about to be; 0 before
   - is_repeated: whether this run repeats the decisions of a run that died while it published #}
{% macro get_initial_progress() %}
  {%- do return({
      'chunk': 1,
      'block': 0,
      'counts': {},
      'decided': none,
      'line_counts': {},
      'truncated_at': none,
      'is_journal': false,
      'definition': '',
      'number': 0,
      'change_count': 0,
      'is_repeated': false,
  }) -%}
{% endmacro %}

{# The counts in the last ledger row of a run that died, for the run that completes it. #}
{% macro read_recorded_counts(target_relation, apply) %}
  {%- set line_names = versioned_collapsing.get_line_count_names() -%}
  {%- set names = versioned_collapsing.get_count_names() -%}
  {%- set query -%}
    select {{ (line_names + names) | join(', ') }}
    from {{ versioned_collapsing.get_ledger_relation(target_relation) }}
    where model = {{ versioned_collapsing.quote_literal(apply.model) }}
      and run_id = {{ versioned_collapsing.quote_literal(apply.run_id) }}
    order by at desc
    limit 1
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set recorded = {'line_counts': {}, 'counts': {}} -%}
  {%- for name in line_names -%}
    {%- do recorded.line_counts.update({name: found[name]}) -%}
  {%- endfor -%}
  {%- for name in names -%}
    {%- do recorded.counts.update({name: found[name] | int}) -%}
  {%- endfor -%}
  {%- do return(recorded) -%}
{% endmacro %}

{# What the ledger says about the target, for the run that holds its lock. A ledger that was restored from a backup
   lacks the last applies. The change feed has them, and new applies would use their numbers again. So the ledger gets
   them from the feed. Their batches are not known there, so runs take these batches again. #}
{% macro read_restored_ledger(target_relation, options, model, apply) %}
  {%- set ledger = versioned_collapsing.read_ledger(target_relation, model) -%}
  {%- set last_fed = versioned_collapsing.read_last_fed_apply(target_relation) if ledger.has_applies else 0 -%}
  {%- if last_fed <= ledger.number -%}
    {%- do return(ledger) -%}
  {%- endif -%}
  {%- set first = (ledger.unfinished.number if ledger.unfinished else 0) or ledger.number + 1 -%}
  {%- set lost = run_query(versioned_collapsing._get_fed_applies_sql(target_relation, first)).columns[0].values() -%}
  {#- A full refresh that died may have fed rows that this table has too. If its own table is left over, its apply is
      not published, whatever the comparison says. -#}
  {%- set is_published = not versioned_collapsing.read_tables_of(target_relation).leftover and run_query(
      versioned_collapsing._get_is_published_sql(target_relation, options, last_fed)
  ).rows[0][0] | int -%}
  {%- if not is_published -%}
    {%- do versioned_collapsing.drop_unpublished_from_feed(target_relation, dict(apply, number=last_fed)) -%}
  {%- endif -%}
  {%- set lost = lost if is_published else lost[:-1] -%}
  {%- if not lost -%}
    {%- do return(ledger) -%}
  {%- endif -%}
  {%- for number in lost -%}
    {%- set restored = dict(
        versioned_collapsing.get_apply_of_nothing(apply), run_id=local_md5(apply.run_id ~ number), change_set='',
        taken_at=none, is_partial=false
    ) -%}
    {%- set progress = dict(versioned_collapsing.get_initial_progress(), number=number | int) -%}
    {%- do versioned_collapsing.record_apply(target_relation, restored, progress, 'restored') -%}
  {%- endfor -%}
  {%- do log(
      'The ledger is older than ' ~ target_relation ~ ': it lacked '
      ~ ('apply ' ~ lost[0] if lost | length == 1 else 'applies ' ~ lost[0] ~ ' to ' ~ lost[-1])
      ~ ', which the change feed has. It has '
      ~ ('this apply' if lost | length == 1 else 'these applies')
      ~ ' again now, but not the batches. A run that finds these batches takes them again', info=true
  ) -%}
  {%- do return(versioned_collapsing.read_ledger(target_relation, model)) -%}
{% endmacro %}

{# What the ledger says about the table that now has the target's name.

   - is_known: whether it has a row about the table; has_applies: whether it has a numbered apply to it
   - has_history: whether a whole change set was applied or begun, or the table was adopted or rebalanced
   - applied_batches, applied_change_set: the batches and the last change set that were applied
   - truncated_at: the version at which the table was truncated; deletes: how many deletes were remembered
   - number: that of the last apply to the table, or by the model to an earlier table with the same name
   - unfinished: the run that began to write and did not end, or none #}
{% macro read_ledger(target_relation, model) %}
  {%- set last = {
      'last_run_id': 'run_id', 'last_status': 'status', 'last_batches': 'batches.batch', 'last_hashes': 'batches.hash',
      'last_publish': 'publish', 'last_block': 'block', 'last_chunk': 'chunk', 'last_chunks': 'chunks',
      'last_is_partial': 'is_partial', 'last_truncated_at': 'truncated_at', 'last_definition': 'definition',
      'last_apply': 'apply', 'last_change_set': 'change_set',
      'last_landed_at': 'arrayMap(time -> toUnixTimestamp64Micro(time), landed_at)',
      'last_taken_at': 'toUnixTimestamp64Micro(taken_at)', 'last_landings': 'watermarks.landing',
      'last_landing_uuids': 'arrayMap(uuid -> toString(uuid), watermarks.uuid)',
      'last_watermarks': 'watermarks.watermark',
  } -%}
  {%- set ledger = versioned_collapsing.get_ledger_relation(target_relation) -%}
  {%- set name = versioned_collapsing.quote_literal(model.name) -%}
  {%- set uuid = versioned_collapsing.get_table_uuid_sql(target_relation) -%}
  {%- set query -%}
    select
      count() as known,
      countIf(apply > 0) as numbered,
      countIf(status in ('applied', 'adopted', 'rebalanced')) as history,
      sumIf(deletes, status in ('applied', 'partial') and endsWith(definition, ' remembers_deletes')) as deletes,
      {%- for name, column in last.items() %}
      argMax({{ column }}, at) as {{ name }},
      {%- endfor %}
      max(at) not between now64(6, 'UTC') - toIntervalSecond(uptime()) and now64(6, 'UTC') as is_restarted,
      argMaxIf(truncated_at, at, truncated_at <> '' and status in ('applied', 'partial')) as truncate_version,
      groupUniqArrayArrayIf(batches.batch, status = 'applied') as applied,
      argMaxIf(change_set, at, status = 'applied') as applied_change_set,
      (select max(apply) from {{ ledger }} where model = {{ name }} or target_uuid = {{ uuid }}) as number
    from {{ ledger }}
    where model = {{ name }}
      and target_uuid = {{ uuid }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set unfinished = versioned_collapsing._get_unfinished_apply(found, model) -%}
  {%- do return({
      'is_known': found['known'] | int > 0,
      'has_applies': found['numbered'] | int > 0,
      'has_history': found['history'] | int > 0 or (unfinished is not none and not unfinished.is_partial),
      'applied_batches': versioned_collapsing.parse_array(found['applied']),
      'applied_change_set': found['applied_change_set'],
      'truncated_at': found['truncate_version'],
      'deletes': found['deletes'] | int,
      'number': found['number'] | int,
      'unfinished': unfinished,
  }) -%}
{% endmacro %}

{# The run that wrote the last row, if it began to write and did not end. #}
{% macro _get_unfinished_apply(found, model) %}
  {%- if found['last_status'] not in ('chunk staged', 'started', 'block applied') -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set words = found['last_definition'].split(' ') -%}
  {%- set batches = versioned_collapsing.parse_array(found['last_batches']) -%}
  {%- do return({
      'model': model.name,
      'rebuild_command': versioned_collapsing.get_rebuild_command(model),
      'run_id': found['last_run_id'],
      'status': found['last_status'],
      'is_partial': found['last_is_partial'] | string | lower in ('true', '1'),
      'is_restarted': found['is_restarted'] | string | lower in ('true', '1'),
      'is_stream': found['last_publish'] == 'stream',
      'is_journal': found['last_publish'] == 'journal',
      'block': found['last_block'] | int,
      'definition': words | reject('equalto', 'remembers_deletes') | join(' '),
      'remembers_deletes': 'remembers_deletes' in words,
      'number': found['last_apply'] | int,
      'chunk': found['last_chunk'] | int,
      'chunks': found['last_chunks'] | int,
      'truncated_at': found['last_truncated_at'],
      'change_set': found['last_change_set'],
      'landed_at': versioned_collapsing.parse_array(found['last_landed_at']),
      'taken_at': found['last_taken_at'],
      'watermarks': zip(
          versioned_collapsing.parse_array(found['last_landings']),
          versioned_collapsing.parse_array(found['last_landing_uuids']),
          versioned_collapsing.parse_array(found['last_watermarks'])
      ) | list,
      'batches': zip(batches, versioned_collapsing.parse_array(found['last_hashes'])) | list,
  }) -%}
{% endmacro %}

{# The highest apply number in the change feed of a table; 0 if there is no feed. #}
{% macro read_last_fed_apply(target_relation) %}
  {%- set feed = versioned_collapsing.get_feed_relation(target_relation) -%}
  {%- if load_cached_relation(feed) is none
      or not versioned_collapsing.read_feed_columns(target_relation, feed).feed -%}
    {%- do return(0) -%}
  {%- endif -%}
  {%- set query -%}
    select _apply from {{ feed }} order by _apply desc limit 1 {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows -%}
  {%- do return(found[0][0] | int if found else 0) -%}
{% endmacro %}

{% macro _get_fed_applies_sql(target_relation, first) -%}
  select distinct _apply
  from {{ versioned_collapsing.get_feed_relation(target_relation) }}
  where _apply >= {{ first }}
  order by _apply
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}

{# Whether the table has the rows of the last apply in the feed. If not, the run of that apply died before it published
   anything. Only the last apply can be unpublished: each run removes such rows before it feeds its own. #}
{% macro _get_is_published_sql(target_relation, options, number) -%}
  {%- set state = versioned_collapsing.quote_names(options.unique_key + [options.version]) -%}
  {%- set sign = versioned_collapsing.quote_name(options.sign) -%}
  {%- set changed -%}
    select {{ state }}, sum({{ sign }}) as _dbt_net
    from {{ versioned_collapsing.get_feed_relation(target_relation) }}
    where _apply = {{ number }}
    group by {{ state }}
    having _dbt_net <> 0
    order by {{ state }}
    limit 1000
  {%- endset -%}
  select avg(_dbt_stored = greatest(_dbt_net, 0)) > 0.5
  from (
    {{ changed }}
  ) as _dbt_changed
  left any join (
    select {{ state }}, sum({{ sign }}) as _dbt_stored
    from {{ target_relation }}
    where ({{ state }}) in (
      select {{ state }}
      from (
        {{ changed }}
      )
    )
    group by {{ state }}
  ) as _dbt_in_table using ({{ state }})
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}

{# The apply without its batches, for a change set that this table has applied before. #}
{% macro get_apply_of_nothing(apply) %}
  {%- do return(dict(apply, batches=[], landed_at=[], manifest_counts={})) -%}
{% endmacro %}

{# Appends a row to the ledger. A run on a part of the change set (--empty, --sample) applies no batch. A view has a row
   for each table that it reads, in the ledger of that table. #}
{% macro record_apply(target_relation, apply, progress, status, followed_relation=none) %}
  {% call statement('record_apply') -%}
    {{ versioned_collapsing._get_record_sql(target_relation, apply, progress, status, followed_relation) }}
  {%- endcall %}
{% endmacro %}

{% macro _get_record_sql(target_relation, apply, progress, status, followed_relation) -%}
  {%- set line_names = versioned_collapsing.get_line_count_names() -%}
  {%- set names = versioned_collapsing.get_count_names() -%}
  {%- set elapsed = modules.datetime.datetime.now(modules.pytz.utc) - apply.started_at -%}
  {%- set way = 'stream' if apply.is_stream else 'journal' if progress.is_journal else 'atomic' -%}
  {%- set definition = progress.definition ~ (' remembers_deletes' if apply.remembers_deletes else '') -%}
  {%- set ledger = versioned_collapsing.get_ledger_relation(followed_relation or target_relation) -%}
  {%- set model = versioned_collapsing.quote_literal(apply.model) -%}
  insert into {{ ledger }} (
    model, target_uuid, invocation_id, run_id, status, at, batches,
    {{ (line_names + names) | join(', ') }},
    milliseconds, publish, block, chunk, chunks, is_partial, truncated_at, source_uuid, definition,
    apply, landed_at, taken_at, change_set, watermarks, signed_rows
  )
  select
    {{ model }},
    {{ versioned_collapsing.get_table_uuid_sql(target_relation) }},
    {{ versioned_collapsing.quote_literals([invocation_id, apply.run_id]) }},
    {{ versioned_collapsing.quote_literal('partial' if apply.is_partial and status == 'applied' else status) }},
    {{ versioned_collapsing.get_later_time_sql(ledger, 'at', 'model = ' ~ model) }},
    {{ versioned_collapsing._get_batches_sql(apply.batches) }},
    {%- for name in line_names %}
    {{ 'null' if progress.line_counts.get(name) is none else progress.line_counts[name] | int }},
    {%- endfor %}
    {%- for name in names %}
    {{ progress.counts.get(name, 0) }},
    {%- endfor %}
    {{ (elapsed.total_seconds() * 1000) | int }},
    {{ versioned_collapsing.quote_literal('' if status == 'chunk staged' else way) }},
    {{ progress.block }}, {{ progress.chunk }}, {{ apply.chunks }}, {{ apply.is_partial }},
    {{ 'toString(' ~ progress.truncated_at ~ ')' if progress.truncated_at else "''" }},
    {{ versioned_collapsing.get_table_uuid_sql(followed_relation) if followed_relation
        else "toUUID('00000000-0000-0000-0000-000000000000')" }},
    {{ versioned_collapsing.quote_literal(definition) }},
    {{ progress.number }},
    {{ versioned_collapsing._get_landed_at_sql(apply.landed_at) }},
    {{ 'null' if apply.taken_at is none else versioned_collapsing._get_point_in_time_sql(apply.taken_at) }},
    {{ versioned_collapsing.quote_literal(apply.change_set) }},
    {{ versioned_collapsing._get_watermarks_sql(apply.watermarks) }},
    {{ versioned_collapsing._get_signed_rows_sql(target_relation, apply, progress, status) }}
  {{ versioned_collapsing.get_settings_sql(apply) }}
{%- endmacro %}

{% macro _get_batches_sql(batches) %}
  {%- set tuples = [] -%}
  {%- for batch, hash in batches -%}
    {%- do tuples.append('(' ~ batch ~ ', ' ~ versioned_collapsing.quote_literal(hash) ~ ')') -%}
  {%- endfor -%}
  {%- do return("cast([" ~ tuples | join(', ') ~ "], 'Array(Tuple(batch UInt64, hash String))')") -%}
{% endmacro %}

{% macro _get_landed_at_sql(landed_at) %}
  {%- set times = [] -%}
  {%- for microseconds in landed_at -%}
    {%- do times.append(versioned_collapsing._get_point_in_time_sql(microseconds)) -%}
  {%- endfor -%}
  {%- do return("cast([" ~ times | join(', ') ~ "], 'Array(DateTime64(6, ''UTC''))')") -%}
{% endmacro %}

{% macro _get_point_in_time_sql(microseconds) %}
  {%- do return("fromUnixTimestamp64Micro(toInt64(" ~ microseconds ~ "), 'UTC')") -%}
{% endmacro %}

{% macro _get_watermarks_sql(watermarks) %}
  {%- set tuples = [] -%}
  {%- for landing, uuid, watermark in watermarks -%}
    {%- do tuples.append('(' ~ versioned_collapsing.quote_literals([landing, uuid, watermark]) ~ ')') -%}
  {%- endfor -%}
  {%- do return(
      "cast([" ~ tuples | join(', ') ~ "], 'Array(Tuple(landing String, uuid UUID, watermark String))')"
  ) -%}
{% endmacro %}

{% macro _get_signed_rows_sql(target_relation, apply, progress, status) %}
  {%- if status == 'started' -%}
    {%- do return(
        '(select count() from ' ~ versioned_collapsing.get_helper_relation(target_relation, 'signed') ~ ')'
    ) -%}
  {%- elif status == 'restored' -%}
    {%- do return('(select count() from ' ~ apply.feed_relation ~ ' where _apply = ' ~ progress.number ~ ')') -%}
  {%- endif -%}
  {%- do return(0) -%}
{% endmacro %}

{# What every step knows about an apply. Steps do not change it; if one learns more, it makes a copy.

   - is_resumed: whether another run began the apply
   - is_first: whether it is the first apply to a table that was built for it
   - has_reprocessed: whether it takes batches again that are applied
   - lock: none if the engine runs in dbt's own process
   - staged: the staged tables that an earlier apply has left
   - number: the number of the apply; 0 until the ledger is read
   - forgotten: how many changes of its change set belong to forgotten keys
   - feed: the change feed, or none; feed_relation: where one is or would be #}
{% macro get_apply(model, locked_relation, manifest={}, options={}) %}
  {%- set now = modules.datetime.datetime.now(modules.pytz.utc) -%}
  {%- set run_id = local_md5(invocation_id ~ model.unique_id ~ now) -%}
  {%- set lock = versioned_collapsing.get_helper_relation(locked_relation, 'lock') -%}
  {%- do return({
      'model': model.name,
      'rebuild_command': versioned_collapsing.get_rebuild_command(model),
      'run_id': run_id,
      'started_at': now,
      'lock': none if versioned_collapsing.is_embedded() else {'relation': lock, 'run_id': run_id},
      'batches': [] if manifest.is_partial else manifest.batches or [],
      'landed_at': [] if manifest.is_partial else manifest.landed_at or [],
      'taken_at': manifest.taken_at or none,
      'change_set': manifest.id or '',
      'watermarks': [],
      'has_manifest': manifest.exists or false,
      'manifest_counts': manifest.line_counts or {},
      'is_partial': manifest.is_partial or false,
      'is_stream': options.old_state == 'stream',
      'is_resumed': false,
      'is_first': false,
      'has_reprocessed': false,
      'chunks': options.chunks or 1,
      'remembers_deletes': options.remember_deletes or false,
      'staged': {},
      'number': 0,
      'forgotten': 0,
      'feed_relation': versioned_collapsing.get_feed_relation(locked_relation),
      'feed': versioned_collapsing.get_change_feed(locked_relation, options, model) if options else none,
  }) -%}
{% endmacro %}

{# The apply that another run began. Names and batches come from the ledger; the lock and the start time come from the
   run that completes it. #}
{% macro get_resumed_apply(apply, unfinished) %}
  {%- do return(dict(
      apply,
      model=unfinished.model,
      rebuild_command=unfinished.rebuild_command,
      run_id=unfinished.run_id,
      batches=unfinished.batches,
      landed_at=unfinished.landed_at,
      taken_at=unfinished.taken_at,
      change_set=unfinished.change_set,
      watermarks=unfinished.watermarks,
      has_manifest=false,
      manifest_counts={},
      is_partial=unfinished.is_partial,
      is_stream=unfinished.is_stream,
      is_resumed=true,
      chunks=unfinished.chunks,
      remembers_deletes=unfinished.remembers_deletes,
      number=unfinished.number or apply.number
  )) -%}
{% endmacro %}

{# The first apply to a table. Views are filled from the table itself, so a feed that exists only for views gets no rows
   of it. #}
{% macro get_first_apply(apply) %}
  {%- do return(dict(apply, is_first=true, feed=apply.feed if apply.feed and apply.feed.is_history else none)) -%}
{% endmacro %}
