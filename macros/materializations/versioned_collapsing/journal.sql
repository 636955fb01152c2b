{# Whether the rows are written so that an insert which died can be repeated block by block. Materialized
   views need it: they are fed with what is inserted, and not together with the table. #}
{% macro uses_journal(target, options, run) %}
  {%- set views = versioned_collapsing.read_views(target) -%}
  {%- set is_journal = options.publish == 'journal' or run.is_stream or (options.publish == 'auto' and views.tables != []) -%}
  {%- if is_journal -%}
    {%- for table in [target] + views.tables -%}
      {%- do versioned_collapsing.keep_deduplication_window(table) -%}
    {%- endfor -%}
    {%- do run.update({'definition': views.definitions | join(' ')}) -%}
  {%- endif -%}
  {%- do return(is_journal) -%}
{% endmacro %}


{# Rows of a block: what 64 MiB hold of rows like the staged changes, at most a million. Rows that come signed are not
   staged before, and are taken to be wide. Tests make blocks small. #}
{% macro get_block_rows(target) %}
  {%- set rows = var('versioned_collapsing_block_rows', none) -%}
  {%- if rows is not none -%}
    {%- do return(rows | int) -%}
  {%- endif -%}
  {%- set query -%}
    select if(sum(rows) = 0, 200000, least({{ versioned_collapsing.get_most_block_rows() }}, greatest(1, intDiv(67108864 * sum(rows), sum(data_uncompressed_bytes))))) as n
    from system.parts
    where active and {{ versioned_collapsing.get_is_table_sql(versioned_collapsing.get_helper_relation(target, 'changes'), 'table') }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(run_query(query).rows[0]['n'] | int) -%}
{% endmacro %}


{% macro get_most_block_rows() %}
  {%- do return(1048576) -%}
{% endmacro %}


{# The table of the rows to write, each with the number of its block. #}
{% macro create_signed_rows(target, options, columns) %}
  {%- set signed = versioned_collapsing.get_helper_relation(target, 'signed') -%}
  {%- do run_query('drop table if exists ' ~ signed) -%}
  {% call statement('create_signed_rows') -%}
    create table {{ signed }} (
      {%- for column in columns.table %}
      {{ adapter.quote(column.name) }} {{ column.type }},
      {%- endfor %}
      {{ adapter.quote(options.sign) }} Int8,
      _dbt_block UInt32,
      _dbt_problem LowCardinality(String)
    )
    engine = MergeTree
    order by ({{ get_quoted_csv(['_dbt_block'] + options.unique_key + [options.version]) }})
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
{% endmacro %}


{# Stages the rows that the changes come to. #}
{% macro stage_rows_to_write(target, options, columns, run, counts) %}
  {%- do versioned_collapsing.create_signed_rows(target, options, columns) -%}
  {% call statement('stage_rows_to_write') -%}
    {{ versioned_collapsing.get_stage_signed_rows_sql(target, options, columns, run, versioned_collapsing.get_publish_rows_sql(target, options, columns)) }}
  {%- endcall %}
  {%- if counts.repaired -%}
    {% call statement('stage_healing_rows') -%}
      {{ versioned_collapsing.get_stage_signed_rows_sql(target, options, columns, run, versioned_collapsing.get_heal_rows_sql(target, options, columns)) }}
    {%- endcall %}
  {%- endif -%}
{% endmacro %}


{# `rows_sql` selects them in the order of get_stored_names. #}
{% macro get_stage_signed_rows_sql(target, options, columns, run, rows_sql) -%}
  {%- set signed = versioned_collapsing.get_helper_relation(target, 'signed') -%}
  {%- set names = get_quoted_csv(versioned_collapsing.get_stored_names(options, columns)) -%}
  insert into {{ signed }} ({{ names }}, _dbt_block)
  select
    *,
    (select if(count() = 0, 0, max(_dbt_block) + 1) from {{ signed }}) + intDiv(rowNumberInAllBlocks(), {{ versioned_collapsing.get_block_rows(target) }})
  from ({{ rows_sql }})
  {{ versioned_collapsing.get_settings_sql(run, {'join_algorithm': 'partial_merge'}) }}
{%- endmacro %}


{# Writes the staged rows from a block on, each block by a statement of its own. A block that was written as its
   run died is dropped as a repetition by every table that has it. #}
{% macro publish_signed_rows(target, options, columns, run, first_block=0) %}
  {%- set found = run_query('select count() as _dbt_n, max(_dbt_block) as _dbt_last_block from ' ~ versioned_collapsing.get_helper_relation(target, 'signed') ~ ' ' ~ versioned_collapsing.get_settings_sql()).rows[0] -%}
  {%- for block in range(first_block, found['_dbt_last_block'] | int + 1) if found['_dbt_n'] -%}
    {% call statement('publish') -%}
      {{ versioned_collapsing.get_publish_block_sql(target, options, columns, run, block) }}
    {%- endcall %}
    {%- if not loop.last -%}
      {%- do versioned_collapsing.renew_lock(run) -%}
      {%- do run.update({'block': block + 1}) -%}
      {%- do versioned_collapsing.record_run(target, run, 'block applied', run.counts or {}) -%}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}


{# ClickHouse knows a block by its token, and by the number of chunks that it was read in: it must be one,
   whatever the profile and the memory are. A sort of everything, in memory, returns one. #}
{% macro get_publish_block_sql(target, options, columns, run, block) -%}
  {%- set names = get_quoted_csv(versioned_collapsing.get_stored_names(options, columns)) -%}
  insert into {{ target }} ({{ names }})
  select {{ names }}
  from {{ versioned_collapsing.get_helper_relation(target, 'signed') }}
  where _dbt_block = {{ block }}
  order by {{ get_quoted_csv(options.unique_key + [options.version, options.sign]) }}
  {{ versioned_collapsing.get_settings_sql(run, {
      'deduplicate_insert': 'enable', 'deduplicate_insert_select': 'force_enable', 'deduplicate_blocks_in_dependent_materialized_views': 1,
      'insert_deduplication_token': run.run_id ~ '/' ~ run.chunk ~ '/' ~ block,
      'max_block_size': versioned_collapsing.get_most_block_rows(), 'optimize_read_in_order': 0,
      'max_bytes_before_external_sort': 0, 'max_bytes_ratio_before_external_sort': 0, 'max_insert_threads': 1,
      'min_insert_block_size_rows': 1000000000, 'min_insert_block_size_bytes': 0, 'max_partitions_per_insert_block': 0,
  }) }}
{%- endmacro %}


{# The columns of an insert: the key, the others, the sign. #}
{% macro get_stored_names(options, columns) %}
  {%- do return(options.unique_key + (columns.names | reject('in', options.unique_key) | list) + [options.sign]) -%}
{% endmacro %}
