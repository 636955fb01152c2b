{# Writes the staged rows from a block on, each block by a statement of its own. A block that was written as its
   run died is dropped as a repetition by every table that has it. #}
{% macro publish_signed_rows(target, options, columns, run, first_block=0) %}
  {%- set found = run_query('select count() as _dbt_n, max(_dbt_block) as _dbt_last_block from '
      ~ versioned_collapsing.get_helper_relation(target, 'signed') ~ ' '
      ~ versioned_collapsing.get_settings_sql()).rows[0] -%}
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
      'deduplicate_insert': 'enable', 'deduplicate_insert_select': 'force_enable',
          'deduplicate_blocks_in_dependent_materialized_views': 1,
      'insert_deduplication_token': run.run_id ~ '/' ~ run.chunk ~ '/' ~ block,
      'max_block_size': versioned_collapsing.get_most_block_rows(), 'optimize_read_in_order': 0,
      'max_bytes_before_external_sort': 0, 'max_bytes_ratio_before_external_sort': 0, 'max_insert_threads': 1,
      'min_insert_block_size_rows': 1000000000, 'min_insert_block_size_bytes': 0, 'max_partitions_per_insert_block': 0,
  }) }}
{%- endmacro %}
