{# Stages the rows that the changes come to, each with the number of its block. #}
{% macro stage_rows_to_write(target_relation, options, columns, uncollapsed, counts, apply) %}
  {%- set block_rows = versioned_collapsing.read_block_rows(target_relation) -%}
  {%- set rows = versioned_collapsing.get_publish_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {%- do versioned_collapsing.create_signed_rows(target_relation, options, columns) -%}
  {% call statement('stage_rows_to_write') -%}
    {{ versioned_collapsing.get_stage_signed_rows_sql(target_relation, options, columns, rows, block_rows, apply) }}
  {%- endcall %}
  {%- if counts.repaired -%}
    {%- set rows = versioned_collapsing.get_heal_rows_sql(target_relation, options, columns, uncollapsed) -%}
    {% call statement('stage_healing_rows') -%}
      {{ versioned_collapsing.get_stage_signed_rows_sql(target_relation, options, columns, rows, block_rows, apply) }}
    {%- endcall %}
  {%- endif -%}
{% endmacro %}


{# `rows_sql` selects them in the order of get_stored_names. Their blocks come after those that are staged. #}
{% macro get_stage_signed_rows_sql(target_relation, options, columns, rows_sql, block_rows, apply) -%}
  {%- set signed = versioned_collapsing.get_helper_relation(target_relation, 'signed') -%}
  {%- set names = get_quoted_csv(versioned_collapsing.get_stored_names(options, columns)) -%}
  insert into {{ signed }} ({{ names }}, _dbt_block)
  select
    *,
    (select if(count() = 0, 0, max(_dbt_block) + 1) from {{ signed }}) + intDiv(rowNumberInAllBlocks(),
        {{ block_rows }})
  from ({{ rows_sql }})
  {{ versioned_collapsing.get_settings_sql(apply, {'join_algorithm': 'partial_merge'}) }}
{%- endmacro %}
