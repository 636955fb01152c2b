{# Writes the repairs, which are signed rows. They are staged and written like those of `old_state: stream`, and are
   completed like them if the operation dies. #}
{% macro write_repairs(table, options, columns, repairs, found, apply) %}
  {%- set apply = dict(apply, staged=versioned_collapsing.read_staged_tables(table)) -%}
  {%- set counts = {'repaired': found.broken_keys, 'states': found.states, 'cancels': found.cancels} -%}
  {%- set rows = versioned_collapsing.get_repair_rows_sql(options, columns, repairs) -%}
  {%- set signed = versioned_collapsing.get_helper_relation(table, 'signed') -%}
  {%- do versioned_collapsing.prepare_twin(signed, table, apply, is_new=true) -%}
  {% call statement('stage_repairs') -%}
    {{ versioned_collapsing.get_stage_rows_sql(table, options, columns, rows, apply) }}
  {%- endcall %}
  {%- set progress = versioned_collapsing.start_publishing(
      table, options, columns, versioned_collapsing.get_initial_progress(), apply
  ) -%}
  {%- do versioned_collapsing.publish_staged_rows(table, options, columns, progress, apply) -%}
  {%- do versioned_collapsing.record_apply(table, apply, dict(progress, counts=counts), 'repaired') -%}
  {%- do versioned_collapsing.drop_staged(table, ['signed']) -%}
{% endmacro %}


{# The columns of the table, as describe_columns returns them. #}
{% macro read_table_description(table, options) %}
  {%- set stored = [] -%}
  {%- for column in adapter.get_columns_in_relation(table) if column.name != options.sign -%}
    {%- do stored.append({'name': column.name, 'type': column.data_type, 'given_type': column.data_type}) -%}
  {%- endfor -%}
  {%- do return(versioned_collapsing.describe_columns(options, stored, [])) -%}
{% endmacro %}
