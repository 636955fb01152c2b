{# Writes the rows that the changes come to by comparing with what is stored. #}
{% macro publish_directly(target_relation, options, columns, uncollapsed, counts, apply) %}
  {%- set rows = versioned_collapsing.get_publish_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {% call statement('publish') -%}
    {{ versioned_collapsing.get_insert_rows_sql(target_relation, options, columns, rows, apply) }}
  {%- endcall %}
  {%- if counts.repaired -%}
    {%- set rows = versioned_collapsing.get_heal_rows_sql(target_relation, options, columns, uncollapsed) -%}
    {% call statement('heal') -%}
      {{ versioned_collapsing.get_insert_rows_sql(target_relation, options, columns, rows, apply) }}
    {%- endcall %}
  {%- endif -%}
{% endmacro %}


{# Writes rows into the target at once. A run that dies here is completed by what the next one finds missing. Within
   a block nothing collapses, so that ClickHouse need not try: the rows of a pair have two versions. #}
{% macro get_insert_rows_sql(target_relation, options, columns, rows_sql, apply) -%}
  insert into {{ target_relation }} ({{ get_quoted_csv(versioned_collapsing.get_stored_names(options, columns)) }})
  select *
  from ({{ rows_sql }})
  {{ versioned_collapsing.get_settings_sql(apply, {
      'join_algorithm': 'partial_merge', 'optimize_on_insert': 0, 'max_block_size': 65409, 'max_insert_threads': 2,
      'min_insert_block_size_rows': 1048576, 'min_insert_block_size_bytes': 67108864,
      'max_partitions_per_insert_block': 0,
  }) }}
{%- endmacro %}
