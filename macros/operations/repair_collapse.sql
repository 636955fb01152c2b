{# Finds rows whose signs do not add up, and keys with several live rows, and inserts the rows that put them
   right: views on the table are put right by the same rows. Compares whole rows, and trusts no merge. Without
   `dry_run: false` it only says what it would write, as an error, for whoever waits for the exit code. #}
{% macro repair_collapse(model, dry_run=true) %}
  {%- set node = versioned_collapsing.get_collapsing_node('repair_collapse', model) -%}
  {%- set table = versioned_collapsing.get_collapsing_table('repair_collapse', node) -%}
  {%- set options = versioned_collapsing.get_versioned_collapsing_options(node.config, node) -%}
  {%- set run = versioned_collapsing.start_operation(node) -%}
  {%- do versioned_collapsing.create_ledger(table) -%}
  {%- do versioned_collapsing.acquire_lock(table, run, node.name) -%}
  {%- do versioned_collapsing.require_finished('repair_collapse', table, node, run) -%}
  {%- set columns = versioned_collapsing.get_stored_columns(table, options) -%}
  {%- set found = run_query(versioned_collapsing.get_repair_counts_sql(table, options, columns)).rows[0] -%}
  {%- set message = table ~ ': ' ~ versioned_collapsing.format_count(found['broken_keys'], 'key') ~ ' to repair, by '
      ~ versioned_collapsing.format_count(found['states'], 'state row') ~ ' and ' ~ versioned_collapsing.format_count(found['cancels'], 'cancel row') ~ '; '
      ~ versioned_collapsing.format_count(found['undecided_keys'], 'key') ~ ' with two states of one version that differ, left to a newer version' -%}
  {%- if not dry_run and found['broken_keys'] | int -%}
    {%- do versioned_collapsing.write_repairs(table, options, columns, run) -%}
    {%- do versioned_collapsing.record_run(table, run, 'repaired', {'repaired': found['broken_keys'], 'states': found['states'], 'cancels': found['cancels']}) -%}
    {%- do versioned_collapsing.drop_staged(table) -%}
  {%- endif -%}
  {%- do versioned_collapsing.give_up_lock(run) -%}
  {%- if dry_run and (found['broken_keys'] | int or found['undecided_keys'] | int) -%}
    {%- do exceptions.raise_compiler_error(
        "repair_collapse: " ~ message ~ ". Nothing was written."
        ~ (" To write: dbt run-operation repair_collapse --args '{model: " ~ model ~ ", dry_run: false}'" if found['broken_keys'] | int else '')
    ) -%}
  {%- endif -%}
  {%- do log(message ~ ('. Repaired.' if found['broken_keys'] | int else ''), info=true) -%}
{% endmacro %}


{# The repairs are signed rows: staged and written as those of `old_state: stream`, and completed as those when
   the operation dies. #}
{% macro write_repairs(table, options, columns, run) %}
  {%- do run.update({'is_stream': true}) -%}
  {%- do versioned_collapsing.uses_journal(table, options, run) -%}
  {%- do versioned_collapsing.create_signed_rows(table, options, columns) -%}
  {% call statement('stage_repairs') -%}
    {{ versioned_collapsing.get_stage_signed_rows_sql(table, options, columns, run, versioned_collapsing.get_repair_rows_sql(table, options, columns)) }}
  {%- endcall %}
  {%- do versioned_collapsing.start_publishing(table, run) -%}
  {%- do versioned_collapsing.publish_signed_rows(table, options, columns, run) -%}
{% endmacro %}


{% macro get_stored_columns(table, options) %}
  {%- set stored = [] -%}
  {%- for column in adapter.get_columns_in_relation(table) if column.name != options.sign -%}
    {%- do stored.append({'name': column.name, 'type': column.data_type, 'given_type': column.data_type}) -%}
  {%- endfor -%}
  {%- do return(versioned_collapsing.describe_columns(options, stored, [])) -%}
{% endmacro %}


{% macro get_repair_rows_sql(table, options, columns) -%}
  select {{ versioned_collapsing.quote_names(versioned_collapsing.get_stored_names(options, columns)[:-1]) }}, _dbt_sign_to_write
  from ({{ versioned_collapsing.get_repairs_sql(table, options, columns) }})
  array join arrayResize([toInt8(sign(_dbt_missing))], abs(_dbt_missing), toInt8(sign(_dbt_missing))) as _dbt_sign_to_write
{%- endmacro %}


{% macro get_repair_counts_sql(table, options, columns) -%}
  {%- set key = versioned_collapsing.quote_names(options.unique_key) -%}
  select
    _dbt_broken_keys as broken_keys,
    _dbt_states as states,
    _dbt_cancels as cancels,
    _dbt_undecided_keys as undecided_keys
  from (
    select
      uniqExactIf(tuple({{ key }}), _dbt_missing <> 0) as _dbt_broken_keys,
      sumIf(_dbt_missing, _dbt_missing > 0) as _dbt_states,
      -sumIf(_dbt_missing, _dbt_missing < 0) as _dbt_cancels,
      uniqExactIf(tuple({{ key }}), _dbt_is_undecided) as _dbt_undecided_keys
    from ({{ versioned_collapsing.get_repairs_sql(table, options, columns, with_undecided=true) }})
  )
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{# Every whole row whose signs do not add up to what they should, and by how much: 1 for the row of the key
   that has the highest version, 0 for the others. Rows that differ and would pair with each other, at one place
   and version, are left alone: whatever was written there could pair with the wrong one. #}
{% macro get_repairs_sql(table, options, columns, with_undecided=false) -%}
  {%- set key = versioned_collapsing.quote_names(options.unique_key) -%}
  {%- set version = versioned_collapsing.quote_name(options.version) -%}
  {%- set row = versioned_collapsing.quote_names(columns.names) -%}
  select
    *,
    count() over (partition by {{ key }}, {{ version }}, {{ versioned_collapsing.get_expressions_sql(options.order_by, columns) }}, _dbt_partition_id) > 1 as _dbt_is_undecided,
    if(_dbt_is_undecided, _dbt_net_sign, if(_dbt_net_sign > 0 and {{ version }} = _dbt_highest, 1, 0)) - _dbt_net_sign as _dbt_missing
  from (
    select *, maxIf({{ version }}, _dbt_net_sign > 0) over (partition by {{ key }}) as _dbt_highest
    from (
      select {{ row }}, any(_partition_id) as _dbt_partition_id, sum({{ versioned_collapsing.quote_name(options.sign) }}) as _dbt_net_sign
      from {{ table }}
      group by {{ row }}
      having _dbt_net_sign <> 0
    )
  )
  qualify _dbt_missing <> 0{{ ' or _dbt_is_undecided' if with_undecided }}
  {{ versioned_collapsing.get_settings_sql(none, {'allow_suspicious_types_in_group_by': 1}) }}
{%- endmacro %}
