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
