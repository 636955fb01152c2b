{# Writes the staged rows from a block on, each block by a statement of its own. A block that was written as its
   run died is dropped as a repetition by every table that has it. #}
{% macro publish_signed_rows(target_relation, options, columns, progress, apply) %}
  {%- for block in versioned_collapsing._read_blocks_to_write(target_relation, progress.block) -%}
    {%- if not loop.first -%}
      {%- do versioned_collapsing.renew_lock(apply) -%}
      {%- do versioned_collapsing.record_apply(
          target_relation, apply, dict(progress, block=block), 'block applied'
      ) -%}
    {%- endif -%}
    {% call statement('publish') -%}
      {{ versioned_collapsing.get_publish_block_sql(target_relation, options, columns, progress.chunk, block, apply) }}
    {%- endcall %}
  {%- endfor -%}
{% endmacro %}


{% macro _read_blocks_to_write(target_relation, first_block) %}
  {%- set query -%}
    select count() as _dbt_n, max(_dbt_block) as _dbt_last_block
    from {{ versioned_collapsing.get_helper_relation(target_relation, 'signed') }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- do return(range(first_block, found['_dbt_last_block'] | int + 1) | list if found['_dbt_n'] | int else []) -%}
{% endmacro %}


{# ClickHouse knows a block by its token, and by the number of chunks that it was read in: it must be one,
   whatever the profile and the memory are. A sort of everything, in memory, returns one. #}
{% macro get_publish_block_sql(target_relation, options, columns, chunk, block, apply) -%}
  {%- set names = get_quoted_csv(versioned_collapsing.get_stored_names(options, columns)) -%}
  insert into {{ target_relation }} ({{ names }})
  select {{ names }}
  from {{ versioned_collapsing.get_helper_relation(target_relation, 'signed') }}
  where _dbt_block = {{ block }}
  order by {{ get_quoted_csv(options.unique_key + [options.version, options.sign]) }}
  {{ versioned_collapsing.get_settings_sql(apply, {
      'deduplicate_insert': 'enable', 'deduplicate_insert_select': 'force_enable',
      'deduplicate_blocks_in_dependent_materialized_views': 1,
      'insert_deduplication_token': apply.run_id ~ '/' ~ chunk ~ '/' ~ block,
      'max_block_size': versioned_collapsing.get_most_block_rows(), 'optimize_read_in_order': 0,
      'max_bytes_before_external_sort': 0, 'max_bytes_ratio_before_external_sort': 0, 'max_insert_threads': 1,
      'min_insert_block_size_rows': 1000000000, 'min_insert_block_size_bytes': 0, 'max_partitions_per_insert_block': 0,
  }) }}
{%- endmacro %}
