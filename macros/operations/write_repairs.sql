{# The repairs are signed rows: staged and written as those of `old_state: stream`, and completed as those when
   the operation dies. #}
{% macro write_repairs(table, options, columns, found, apply) %}
  {%- set prepared = versioned_collapsing.prepare_publishing(table, options, apply) -%}
  {%- set progress = dict(versioned_collapsing.get_initial_progress(), **prepared) -%}
  {%- set counts = {'repaired': found.broken_keys, 'states': found.states, 'cancels': found.cancels} -%}
  {%- set rows = versioned_collapsing.get_repair_rows_sql(table, options, columns) -%}
  {%- set block_rows = versioned_collapsing.read_block_rows(table) -%}
  {%- do versioned_collapsing.create_signed_rows(table, options, columns) -%}
  {% call statement('stage_repairs') -%}
    {{ versioned_collapsing.get_stage_signed_rows_sql(table, options, columns, rows, block_rows, apply) }}
  {%- endcall %}
  {%- do versioned_collapsing.start_publishing(table, progress, apply) -%}
  {%- do versioned_collapsing.publish_signed_rows(table, options, columns, progress, apply) -%}
  {%- do versioned_collapsing.record_apply(table, apply, dict(progress, counts=counts), 'repaired') -%}
  {%- do versioned_collapsing.drop_staged(table) -%}
{% endmacro %}


{# The columns of the table, as describe_columns returns them. #}
{% macro read_table_description(table, options) %}
  {%- set stored = [] -%}
  {%- for column in adapter.get_columns_in_relation(table) if column.name != options.sign -%}
    {%- do stored.append({'name': column.name, 'type': column.data_type, 'given_type': column.data_type}) -%}
  {%- endfor -%}
  {%- do return(versioned_collapsing.describe_columns(options, stored, [])) -%}
{% endmacro %}
