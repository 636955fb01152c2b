{% macro publish_directly(target, options, columns, run, counts) %}
  {% call statement('publish') -%}
    {{ versioned_collapsing.get_insert_rows_sql(target, options, columns, run,
        versioned_collapsing.get_publish_rows_sql(target, options, columns)) }}
  {%- endcall %}
  {%- if counts.repaired -%}
    {% call statement('heal') -%}
      {{ versioned_collapsing.get_insert_rows_sql(target, options, columns, run,
          versioned_collapsing.get_heal_rows_sql(target, options, columns)) }}
    {%- endcall %}
  {%- endif -%}
{% endmacro %}


{# Writes rows into the target at once. A run that dies here is completed by what the next one finds missing. Within
   a block nothing collapses, so that ClickHouse need not try: the rows of a pair have two versions. #}
{% macro get_insert_rows_sql(target, options, columns, run, rows_sql) -%}
  insert into {{ target }} ({{ get_quoted_csv(versioned_collapsing.get_stored_names(options, columns)) }})
  select *
  from ({{ rows_sql }})
  {{ versioned_collapsing.get_settings_sql(run, {
      'join_algorithm': 'partial_merge', 'optimize_on_insert': 0, 'max_block_size': 65409, 'max_insert_threads': 2,
      'min_insert_block_size_rows': 1048576, 'min_insert_block_size_bytes': 67108864,
          'max_partitions_per_insert_block': 0,
  }) }}
{%- endmacro %}
