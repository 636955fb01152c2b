{# Finds rows whose signs do not add up, keys with several live rows, and live rows of deleted keys. Inserts the rows
   that correct them; these rows correct views on the table too. It compares whole rows, and does not rely on merges.
   Without `dry_run: false` it only reports what it would write, as an error, so that the exit code shows it. #}
{% macro rebalance(model, dry_run=true) %}
  {%- set table, options, columns, apply = versioned_collapsing.begin_operation('rebalance', model)[1:] -%}
  {%- set repairs = versioned_collapsing.read_repairs_sql(table, options, columns) -%}
  {%- set found = versioned_collapsing.read_repair_counts(options, repairs) -%}
  {%- if found.broken_keys and not dry_run -%}
    {%- do versioned_collapsing.write_repairs(table, options, columns, repairs, found, apply) -%}
  {%- endif -%}
  {%- do versioned_collapsing.give_up_lock(apply) -%}
  {%- if dry_run -%}
    {%- do versioned_collapsing.validate_nothing_to_repair(table, found, model) -%}
  {%- endif -%}
  {%- set end = '. Repaired.' if found.broken_keys else '' -%}
  {%- do log(versioned_collapsing.get_repair_message(table, found) ~ end, info=true) -%}
{% endmacro %}

{% macro read_repairs_sql(table, options, columns) %}
  {%- set tables = versioned_collapsing.read_tables_of(table) -%}
  {%- set has_tombstones = options.remember_deletes and tables.tombstones
      and versioned_collapsing.has_own_tombstones(tables) -%}
  {%- set rows_sql -%}
    select
      {{ versioned_collapsing.quote_names(columns.names) }},
      {{ versioned_collapsing.quote_name(options.sign) }} as _dbt_row_sign,
      false as _dbt_is_change_row
    from {{ table }}
  {%- endset -%}
  {%- set ends_sql = versioned_collapsing.get_tombstones_sql(table, options, of_all_keys=true) if has_tombstones
      else none -%}
  {%- do return(versioned_collapsing.get_repairs_sql(rows_sql, ends_sql, options, columns)) -%}
{% endmacro %}

{% macro read_repair_counts(options, repairs) %}
  {%- set found = run_query(versioned_collapsing.get_repair_counts_sql(options, repairs)).rows[0] -%}
  {%- do return({
      'broken_keys': found['broken_keys'] | int,
      'states': found['states'] | int,
      'cancels': found['cancels'] | int,
      'undecided_keys': found['undecided_keys'] | int,
  }) -%}
{% endmacro %}

{% macro get_repair_counts_sql(options, repairs) -%}
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
    from ({{ repairs }})
  )
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}

{# Writes the repairs, which are signed rows. They are staged and written like those of `old_state: stream`, and are
   completed like them if the operation dies. #}
{% macro write_repairs(table, options, columns, repairs, found, apply) %}
  {%- set apply = dict(apply, staged=versioned_collapsing.read_tables_beside(table)) -%}
  {%- set counts = {'rebalanced': found.broken_keys, 'states': found.states, 'cancels': found.cancels} -%}
  {%- set rows = versioned_collapsing.get_repair_rows_sql(options, columns, repairs) -%}
  {%- set signed = versioned_collapsing.get_helper_relation(table, 'signed') -%}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {%- do versioned_collapsing.prepare_attachable(signed, table, apply, is_new=true) -%}
  {% call statement('stage_repairs') -%}
    {{ versioned_collapsing.get_stage_rows_sql(table, options, columns, rows, apply) }}
  {%- endcall %}
  {%- set progress = versioned_collapsing.start_publishing(
      table, options, columns, versioned_collapsing.get_initial_progress(), apply
  ) -%}
  {%- do versioned_collapsing.publish_staged_rows(table, options, columns, progress, apply) -%}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {%- do versioned_collapsing.record_apply(table, apply, dict(progress, counts=counts), 'rebalanced') -%}
  {%- do versioned_collapsing.drop_staged(table, ['signed']) -%}
{% endmacro %}

{# A dry run that finds something is an error, so that the exit code shows it. #}
{% macro validate_nothing_to_repair(table, found, model) %}
  {%- set command = "dbt run-operation rebalance --args '{model: " ~ model ~ ", dry_run: false}'" -%}
  {%- if found.broken_keys or found.undecided_keys -%}
    {%- do exceptions.raise_database_error(
        "rebalance: " ~ versioned_collapsing.get_repair_message(table, found) ~ ". Nothing was written."
        ~ (" To write the rows: " ~ command if found.broken_keys else '')
    ) -%}
  {%- endif -%}
{% endmacro %}

{% macro get_repair_message(table, found) %}
  {%- do return(
      table ~ ': ' ~ versioned_collapsing.format_count(found.broken_keys, 'key') ~ ' to repair with '
      ~ versioned_collapsing.format_count(found.states, 'state row') ~ ' and '
      ~ versioned_collapsing.format_count(found.cancels, 'cancel row') ~ '; '
      ~ versioned_collapsing.format_count(found.undecided_keys, 'key')
      ~ ' with different rows of one version, left until a newer version comes'
  ) -%}
{% endmacro %}
