{# Publishes the rows of all chunks together, and records the apply. #}
{% macro publish_and_record(target_relation, options, columns, progress, apply) %}
  {%- if progress.counts.has_writes -%}
    {%- set progress = versioned_collapsing.start_publishing(
        target_relation, options, columns, progress, apply
    ) -%}
    {%- do versioned_collapsing.publish_staged_rows(target_relation, options, columns, progress, apply) -%}
  {%- endif -%}
  {%- if apply.is_resumed or apply.batches or progress.counts.rows_read -%}
    {%- do versioned_collapsing.keep_lock(apply) -%}
    {%- do versioned_collapsing.record_apply(target_relation, apply, progress, 'applied') -%}
  {%- endif -%}
{% endmacro %}

{# Chooses how to publish, writes the change feed and records the start. If the run dies after that, the next run
   completes it in the same way, with the counts that were recorded. Returns the progress. #}
{% macro start_publishing(target_relation, options, columns, progress, apply) %}
  {%- set facts = versioned_collapsing.read_facts_of_publishing(target_relation, apply) -%}
  {%- do versioned_collapsing.validate_output_rows(target_relation, progress.decided, facts.output, apply) -%}
  {%- set views = versioned_collapsing.read_views(target_relation) if facts.has_views
      else {'tables': [], 'definitions': {}} -%}
  {%- set way = versioned_collapsing.prepare_publishing(target_relation, options, views, progress, apply) -%}
  {%- set progress = dict(progress, number=progress.number or apply.number, **way) -%}
  {%- do versioned_collapsing.feed_rows(target_relation, options, columns, progress, apply) -%}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {%- do versioned_collapsing.record_apply(target_relation, apply, progress, 'started') -%}
  {%- do return(progress) -%}
{% endmacro %}

{# Makes sure that the run still holds its lock and, in the same statement, reads how many rows it has staged, and
   whether a materialized view reads the target. #}
{% macro read_facts_of_publishing(target_relation, apply) %}
  {%- set facts -%}
    toJSONString([
      (select count() from {{ versioned_collapsing.get_helper_relation(target_relation, 'signed') }}),
      (select count() from system.tables where {{ versioned_collapsing.get_is_table_sql(target_relation) }}
          and notEmpty(dependencies_table))
    ])
  {%- endset -%}
  {%- set found = versioned_collapsing.renew_lock(apply, facts)
      or run_query('select ' ~ facts ~ ' as also ' ~ versioned_collapsing.get_settings_sql()).rows[0]['also'] -%}
  {%- set output, views = fromjson(found) -%}
  {%- do return({'output': output | int, 'has_views': views | int > 0}) -%}
{% endmacro %}

{# Checks that as many rows are staged as were counted, so that none is lost or doubled. Repaired keys may add any
   number of rows. `decided`: the counts of the staged rows, or none if nothing is known of them. #}
{% macro validate_output_rows(target_relation, decided, output, apply) %}
  {%- set rows = decided.states + decided.cancels if decided else output -%}
  {%- if output < rows or (output > rows and not decided.rebalanced) -%}
    {%- do versioned_collapsing.stop_run(apply,
        "The changes of " ~ versioned_collapsing.get_final_name(target_relation) ~ " require "
        ~ versioned_collapsing.format_count(rows, 'row') ~ ", but "
        ~ versioned_collapsing.format_count(output, 'row') ~ (" was" if output == 1 else " were")
        ~ " staged. Nothing was published. Run again. If the error comes back, report it with the version of "
        ~ "ClickHouse."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Decides how the rows of an apply are published, and prepares the tables for it. Returns `is_journal`, and in
   `definition` the hashes of the views that have the rows through a journal. #}
{% macro prepare_publishing(target_relation, options, views, progress, apply) %}
  {%- set unfed = versioned_collapsing.get_unfed_views(views, progress.definition) -%}
  {%- set is_replicated = versioned_collapsing.get_replication(target_relation) != '' -%}
  {%- if not versioned_collapsing.should_journal(options, unfed, is_replicated, progress, apply) -%}
    {%- do versioned_collapsing.validate_can_attach(target_relation, unfed, apply) -%}
    {%- do return({'is_journal': false, 'definition': progress.definition}) -%}
  {%- endif -%}
  {%- for table in [target_relation] + views.tables -%}
    {%- do versioned_collapsing.keep_deduplication_window(table) -%}
  {%- endfor -%}
  {%- do return({'is_journal': true, 'definition': views.definitions | join(' ')}) -%}
{% endmacro %}

{# Attached parts do not pass through a materialized view, which would miss them. #}
{% macro validate_can_attach(target_relation, unfed, apply) %}
  {%- if unfed -%}
    {%- do versioned_collapsing.stop_run(apply,
        "publish is 'atomic', but materialized views read " ~ target_relation ~ ": "
        ~ unfed | join(', ') ~ ". Atomic publication attaches parts, which views "
        ~ "do not see. Set publish: auto or publish: journal, or drop the views."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# The materialized views that rows of the target reach, directly or through other views. `tables`: the tables that they
   fill. `definitions`: the name of each view by a hash of its definition. #}
{% macro read_views(target_relation) %}
  {%- set tables = [] -%}
  {%- set definitions = {} -%}
  {%- for row in run_query(versioned_collapsing._get_views_sql(target_relation)).rows -%}
    {%- set path = {'schema': row['target_database'], 'identifier': row['target_table']} -%}
    {%- do tables.append(target_relation.incorporate(path=path)) -%}
    {%- do definitions.update({row['definition']: row['view']}) -%}
  {%- endfor -%}
  {%- do return({'tables': tables | unique | list, 'definitions': definitions}) -%}
{% endmacro %}

{% macro _get_views_sql(target_relation) -%}
  with recursive reached as (
    select
      '' as view,
      '' as select_query,
      {{ versioned_collapsing.quote_literal(target_relation.schema) }} as source_database,
      {{ versioned_collapsing.quote_literal(target_relation.identifier) }} as source_table

    union all

    select views.view, views.select_query, views.target_database, views.target_table
    from reached
    inner join ({{ versioned_collapsing._get_direct_views_sql() }}) as views using (source_database, source_table)
  )
  select distinct
    view,
    source_database as target_database,
    source_table as target_table,
    hex(sipHash128(view, select_query, uuid)) as definition
  from reached
  inner join system.tables on database = source_database and name = source_table
  where view <> ''
  order by view, target_database, target_table
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}

{# Each materialized view with the table that it reads and the one that it fills. #}
{% macro _get_direct_views_sql() -%}
  select
    source.database as source_database,
    source.name as source_table,
    view.database || '.' || view.name as view,
    view.as_select as select_query,
    view.target_database,
    view.target_table
  from (
    select database, name, arrayJoin(arrayZip(dependencies_database, dependencies_table)) as dependent
    from system.tables
    where notEmpty(dependencies_table)
  ) as source
  inner join system.tables as view on view.database = dependent.1 and view.name = dependent.2
  where view.target_table <> ''
{%- endmacro %}

{# The names of the views that do not have the rows of this apply. `fed` has the hashes of the views that have them. #}
{% macro get_unfed_views(views, fed) %}
  {%- set unfed = [] -%}
  {%- for definition, view in views.definitions.items() if definition not in fed.split(' ') -%}
    {%- do unfed.append(view) -%}
  {%- endfor -%}
  {%- do return(unfed | unique | sort) -%}
{% endmacro %}

{# Rows are inserted if the option says so, and in three other cases. Materialized views receive what is inserted, not
   what is attached. Rows of `old_state: stream` need inserts, because after an attach that was interrupted, no
   comparison tells which rows are missing. A replicated table attaches one partition after the other, and leaves out a
   part that is, byte by byte, equal to an earlier one.

   An insert can be interrupted halfway. So rows are written block by block, and each block can be repeated. Rows that a
   comparison finds missing after that are attached: the views already have them. #}
{% macro should_journal(options, unfed, is_replicated, progress, apply) %}
  {%- set is_asked_for = (options.publish == 'journal' or is_replicated) and not progress.is_repeated -%}
  {%- do return(apply.is_stream or is_asked_for or (options.publish != 'atomic' and unfed != [])) -%}
{% endmacro %}

{# ClickHouse recognizes a repeated block by this window. The table, and each table that a view fills, needs one:
   otherwise a repeated insert would write its rows twice. It has one entry for each partition of a block. Only one
   block may have to be repeated, the one at which a run dies. Replicated tables have a window anyway. #}
{% macro keep_deduplication_window(table) %}
  {%- set window = 10000 -%}
  {%- set query -%}
    select engine, toUInt64OrZero(extract(engine_full, 'non_replicated_deduplication_window = (\\d+)')) as blocks
    from system.tables
    where {{ versioned_collapsing.get_is_table_sql(table) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- if not found['engine'].endswith('MergeTree') -%}
    {%- do exceptions.warn(
        table ~ " has the engine " ~ found['engine'] ~ ", which does not recognise repeated blocks. If a run is "
        ~ "interrupted while it publishes rows, this table may receive them twice. Use an engine of the "
        ~ "MergeTree family."
    ) -%}
  {%- elif not found['engine'].startswith(('Replicated', 'Shared')) and found['blocks'] | int < window -%}
    {%- do run_query('alter table ' ~ table ~ ' modify setting non_replicated_deduplication_window = ' ~ window) -%}
  {%- endif -%}
{% endmacro %}

{# Publishes the staged rows, and after them the deletes to remember, so that no tombstone is visible before its
   delete. #}
{% macro publish_staged_rows(target_relation, options, columns, progress, apply) %}
  {%- if progress.is_journal -%}
    {%- do versioned_collapsing.publish_blocks(target_relation, options, columns, progress, apply) -%}
  {%- else -%}
    {%- do versioned_collapsing.attach_staged(target_relation, 'signed', target_relation, apply) -%}
  {%- endif -%}
  {%- if apply.remembers_deletes and progress.counts.has_deletes -%}
    {%- do versioned_collapsing.keep_lock(apply) -%}
    {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
    {%- do versioned_collapsing.attach_staged(target_relation, 'deletes', tombstones, apply) -%}
  {%- endif -%}
{% endmacro %}

{# Writes the staged rows from a block on, with one statement for each block. If the run that died had written that
   block to a table, the table drops the repetition. #}
{% macro publish_blocks(target_relation, options, columns, progress, apply) %}
  {%- set blocks = versioned_collapsing.read_blocks(target_relation) -%}
  {%- for block in range(progress.block, blocks | length) -%}
    {%- if not loop.first -%}
      {%- do versioned_collapsing.renew_lock(apply) -%}
      {%- do versioned_collapsing.record_apply(
          target_relation, apply, dict(progress, block=block), 'block applied'
      ) -%}
    {%- endif -%}
    {% call statement('publish') -%}
      {{ versioned_collapsing.get_publish_block_sql(target_relation, options, columns, blocks[block], apply) }}
    {%- endcall %}
  {%- endfor -%}
{% endmacro %}

{# The blocks, each with a token and the names of its parts. A block takes as many parts as fit into its size. Staged
   parts are never merged, so a later run finds the same blocks. Empty parts do not count, because ClickHouse removes
   them sooner or later. The token has the UUID of the staged table: rows that are staged again are other blocks. #}
{% macro read_blocks(target_relation) %}
  {%- set signed = versioned_collapsing.get_helper_relation(target_relation, 'signed') -%}
  {%- set query -%}
    select
      name,
      rows,
      data_uncompressed_bytes as bytes,
      {{ versioned_collapsing.get_table_uuid_sql(signed) }} as staged_uuid
    from system.parts
    where active and rows > 0 and {{ versioned_collapsing.get_is_table_sql(signed, 'table') }}
    order by min_block_number, name
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set most = versioned_collapsing.get_block_size() -%}
  {%- set blocks = [] -%}
  {%- set last = namespace(rows=0, bytes=0) -%}
  {%- for part in run_query(query).rows -%}
    {%- set last.rows = last.rows + part['rows'] | int -%}
    {%- set last.bytes = last.bytes + part['bytes'] | int -%}
    {%- if not blocks or last.rows > most.rows or last.bytes > most.bytes -%}
      {%- do blocks.append({'token': part['staged_uuid'] ~ '/' ~ blocks | length, 'parts': []}) -%}
      {%- set last.rows = part['rows'] | int -%}
      {%- set last.bytes = part['bytes'] | int -%}
    {%- endif -%}
    {%- do blocks[-1].parts.append(part['name']) -%}
  {%- endfor -%}
  {%- do return(blocks) -%}
{% endmacro %}

{# ClickHouse recognizes a block by its token and by the number of pieces in which it is read. It must be one piece,
   whatever the profile and the memory are. A sort of all rows, in memory and by one thread, returns one piece. With two
   threads, it returns two pieces if their rows do not overlap. #}
{% macro get_publish_block_sql(target_relation, options, columns, block, apply) -%}
  {%- set names = get_quoted_csv(versioned_collapsing.get_stored_names(options, columns)) -%}
  insert into {{ target_relation }} ({{ names }})
  select {{ names }}
  from {{ versioned_collapsing.get_helper_relation(target_relation, 'signed') }}
  where _part in ({{ versioned_collapsing.quote_literals(block.parts) }})
  order by {{ adapter.quote(options.sign) }}
  {{ versioned_collapsing.get_settings_sql(apply, {
      'deduplicate_insert': 'enable', 'deduplicate_insert_select': 'force_enable',
      'deduplicate_blocks_in_dependent_materialized_views': 1,
      'insert_deduplication_token': block.token,
      'max_block_size': 1000000000, 'optimize_read_in_order': 0,
      'max_bytes_before_external_sort': 0, 'max_bytes_ratio_before_external_sort': 0,
      'max_threads': 1, 'max_insert_threads': 1,
      'min_insert_block_size_rows': 1000000000, 'min_insert_block_size_bytes': 0, 'max_partitions_per_insert_block': 0,
  }) }}
{%- endmacro %}

{# Makes all staged rows visible in one step: by hard links, the staged parts become parts of the table. A reader sees
   all of them or none. If ClickHouse itself is killed meanwhile, only some of them may be there after its restart. The
   next run then publishes the others. #}
{% macro attach_staged(target_relation, role, relation, apply) %}
  {% call statement('publish') -%}
    alter table {{ relation }}
    attach partition all from {{ versioned_collapsing.get_helper_relation(target_relation, role) }}
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endcall %}
{% endmacro %}

{# The cancel row and the state row of a key have different versions. So nothing collapses within a block, and
   ClickHouse need not try. A journal publishes whole parts, so the parts are no larger than its blocks. #}
{% macro get_stage_rows_sql(target_relation, options, columns, rows_sql, apply) -%}
  {%- set block = versioned_collapsing.get_block_size() -%}
  insert into {{ versioned_collapsing.get_helper_relation(target_relation, 'signed') }} (
    {{ get_quoted_csv(versioned_collapsing.get_stored_names(options, columns)) }}
  )
  select *
  from ({{ rows_sql }})
  {{ versioned_collapsing.get_settings_sql(apply, dict(
      versioned_collapsing.get_merge_join_settings(),
      optimize_on_insert=0, max_insert_threads=2,
      max_block_size=[block.rows, 65409] | min, min_insert_block_size_rows=block.rows,
      min_insert_block_size_bytes=block.bytes, max_partitions_per_insert_block=0
  )) }}
{%- endmacro %}
