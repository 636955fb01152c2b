{# Whether the rows are written so that an insert which died can be repeated block by block. Materialized
   views need it: they are fed with what is inserted, and not together with the table. #}
{% macro uses_journal(target, options, run) %}
  {%- set tables = [target] + versioned_collapsing.get_view_tables(target) -%}
  {%- set is_journal = options.publish == 'journal' or run.is_stream or (options.publish == 'auto' and tables | length > 1) -%}
  {%- if is_journal -%}
    {%- for table in tables -%}
      {%- do versioned_collapsing.keep_deduplication_window(table) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return(is_journal) -%}
{% endmacro %}


{# The tables that materialized views fill from the target, at once or by way of other views. #}
{% macro get_view_tables(target) %}
  {%- set query -%}
    with recursive reached as (
      select '{{ target.schema }}' as source_database, '{{ target.identifier }}' as source_table
      union all
      select views.target_database, views.target_table
      from reached
      inner join (
        select source.database as source_database, source.name as source_table, view.target_database, view.target_table
        from (
          select database, name, arrayJoin(arrayZip(dependencies_database, dependencies_table)) as dependent
          from system.tables
          where notEmpty(dependencies_table)
        ) as source
        inner join system.tables as view on view.database = dependent.1 and view.name = dependent.2
        where view.target_table <> ''
      ) as views using (source_database, source_table)
    )
    select distinct source_database, source_table
    from reached
    inner join system.tables on database = source_database and name = source_table
    where (source_database, source_table) <> ('{{ target.schema }}', '{{ target.identifier }}')
  {%- endset -%}
  {%- set tables = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do tables.append(target.incorporate(path={'schema': row['source_database'], 'identifier': row['source_table']})) -%}
  {%- endfor -%}
  {%- do return(tables) -%}
{% endmacro %}


{# ClickHouse knows a repeated block by this window: without one on the table and on each table that a view
   fills, a repeated insert would be doubled in one of them. Replicated tables have one anyway. #}
{% macro keep_deduplication_window(table) %}
  {%- set query -%}
    select engine, toUInt64OrZero(extract(engine_full, 'non_replicated_deduplication_window = (\\d+)')) as blocks
    from system.tables
    where database = '{{ table.schema }}' and name = '{{ table.identifier }}'
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- if found['engine'].endswith('MergeTree') and not found['engine'].startswith(('Replicated', 'Shared')) and found['blocks'] | int < versioned_collapsing.get_deduplication_window() -%}
    {%- do run_query('alter table ' ~ table ~ ' modify setting non_replicated_deduplication_window = ' ~ versioned_collapsing.get_deduplication_window()) -%}
  {%- elif not found['engine'].endswith('MergeTree') -%}
    {%- do exceptions.warn(
        table ~ " is " ~ found['engine'] ~ ", which cannot tell a repeated block: if a run dies while it writes, its rows may reach it twice."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# Blocks of one apply, in every partition: 200,000 rows each. #}
{% macro get_deduplication_window() %}
  {%- do return(10000) -%}
{% endmacro %}


{# Settings of the statements that write into the target. With a journal the blocks must come out the same when
   the statement is repeated: one order, one thread, one size; the token is the run's, never the content's. #}
{% macro get_insert_settings(run, name) -%}
  {%- if run.is_journal or run.is_stream -%}
    deduplicate_insert = 'enable', deduplicate_insert_select = 'force_enable', deduplicate_blocks_in_dependent_materialized_views = 1,
    insert_deduplication_token = '{{ run.run_id }}/{{ run.slice }}/{{ name }}', max_insert_threads = 1,
  {%- else -%}
    {{ versioned_collapsing._no_deduplication() }},
  {%- endif %}
    max_block_size = 65409, min_insert_block_size_rows = 200000, min_insert_block_size_bytes = 67108864, max_partitions_per_insert_block = 0, {{ versioned_collapsing.get_log_comment_setting(run) }}
{%- endmacro %}


{# State, cancel, same state again: by content the third is a duplicate of the first, and must not be
   dropped as one. #}
{% macro _no_deduplication() %}
  {%- do return("deduplicate_insert = 'disable', deduplicate_insert_select = 'disable'") -%}
{% endmacro %}
