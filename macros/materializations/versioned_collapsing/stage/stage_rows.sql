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
