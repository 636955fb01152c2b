{% macro complete_stream(target, options, unfinished) %}
  {%- set signed = versioned_collapsing.get_helper_relation(target, 'signed') -%}
  {%- set table = [] -%}
  {%- for column in versioned_collapsing.read_table_columns(signed) if column.name not in (options.sign, '_dbt_block',
      '_dbt_problem') -%}
    {%- do table.append({'name': column.name, 'type': column.type, 'given_type': column.type}) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.publish_signed_rows(
      target, options, versioned_collapsing.describe_columns(options, table, []), unfinished, unfinished.block
  ) -%}
  {%- do versioned_collapsing.record_run(
      target, unfinished, 'applied', versioned_collapsing.read_signed_row_counts(target, options)
  ) -%}
{% endmacro %}
