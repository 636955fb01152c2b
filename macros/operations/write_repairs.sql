{# The repairs are signed rows: staged and written as those of `old_state: stream`, and completed as those when
   the operation dies. #}
{% macro write_repairs(table, options, columns, run) %}
  {%- do run.update({'is_stream': true}) -%}
  {%- do versioned_collapsing.uses_journal(table, options, run) -%}
  {%- do versioned_collapsing.create_signed_rows(table, options, columns) -%}
  {% call statement('stage_repairs') -%}
    {{ versioned_collapsing.get_stage_signed_rows_sql(table, options, columns, run,
        versioned_collapsing.get_repair_rows_sql(table, options, columns)) }}
  {%- endcall %}
  {%- do versioned_collapsing.start_publishing(table, run) -%}
  {%- do versioned_collapsing.publish_signed_rows(table, options, columns, run) -%}
{% endmacro %}


{% macro read_table_description(table, options) %}
  {%- set stored = [] -%}
  {%- for column in adapter.get_columns_in_relation(table) if column.name != options.sign -%}
    {%- do stored.append({'name': column.name, 'type': column.data_type, 'given_type': column.data_type}) -%}
  {%- endfor -%}
  {%- do return(versioned_collapsing.describe_columns(options, stored, [])) -%}
{% endmacro %}


{% macro get_repair_rows_sql(table, options, columns) -%}
  select {{ versioned_collapsing.quote_names(versioned_collapsing.get_stored_names(options, columns)[:-1]) }},
      _dbt_sign_to_write
  from ({{ versioned_collapsing.get_repairs_sql(table, options, columns) }})
  array join arrayResize([toInt8(sign(_dbt_missing))], abs(_dbt_missing),
      toInt8(sign(_dbt_missing))) as _dbt_sign_to_write
{%- endmacro %}
