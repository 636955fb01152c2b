{# Stages the rows that the changes come to. #}
{% macro stage_rows_to_write(target, options, columns, run, counts) %}
  {%- do versioned_collapsing.create_signed_rows(target, options, columns) -%}
  {% call statement('stage_rows_to_write') -%}
    {{ versioned_collapsing.get_stage_signed_rows_sql(target, options, columns, run,
        versioned_collapsing.get_publish_rows_sql(target, options, columns)) }}
  {%- endcall %}
  {%- if counts.repaired -%}
    {% call statement('stage_healing_rows') -%}
      {{ versioned_collapsing.get_stage_signed_rows_sql(target, options, columns, run,
          versioned_collapsing.get_heal_rows_sql(target, options, columns)) }}
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
    (select if(count() = 0, 0, max(_dbt_block) + 1) from {{ signed }}) + intDiv(rowNumberInAllBlocks(),
        {{ versioned_collapsing.get_block_rows(target) }})
  from ({{ rows_sql }})
  {{ versioned_collapsing.get_settings_sql(run, {'join_algorithm': 'partial_merge'}) }}
{%- endmacro %}
