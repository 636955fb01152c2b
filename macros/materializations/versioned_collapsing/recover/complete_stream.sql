{# Completes a run of signed rows that died: writes its staged blocks, from the one that the ledger names on. #}
{% macro complete_stream(target_relation, options, progress, apply) %}
  {%- set signed = versioned_collapsing.get_helper_relation(target_relation, 'signed') -%}
  {%- set table = [] -%}
  {%- for column in versioned_collapsing.read_table_columns(signed) if column.name != options.sign -%}
    {%- do table.append({'name': column.name, 'type': column.type, 'given_type': column.type}) -%}
  {%- endfor -%}
  {%- set columns = versioned_collapsing.describe_columns(options, table, []) -%}
  {%- do versioned_collapsing.publish_blocks(target_relation, options, columns, progress, apply) -%}
  {%- set counts = versioned_collapsing.read_signed_row_counts(target_relation, options) -%}
  {%- do versioned_collapsing.record_apply(target_relation, apply, dict(progress, counts=counts), 'applied') -%}
{% endmacro %}
