{# Finds rows whose signs do not add up, keys with several live rows, and live rows of deleted keys. Inserts the rows
   that correct them; these rows correct views on the table too. It compares whole rows, and does not rely on merges.
   Without `dry_run: false` it only reports what it would write, as an error, so that the exit code shows it. #}
{% macro rebalance(model, dry_run=true) %}
  {%- set node = versioned_collapsing.get_collapsing_node('rebalance', model) -%}
  {%- set table = versioned_collapsing.read_collapsing_table('rebalance', node) -%}
  {%- set options = versioned_collapsing.get_valid_options(node) -%}
  {%- set apply = versioned_collapsing.get_apply(
      node, table, options={'old_state': 'stream', 'change_feed': options.change_feed}
  ) -%}
  {%- do versioned_collapsing.prepare_ledger(table) -%}
  {%- do versioned_collapsing.acquire_lock(table, apply) -%}
  {%- set ledger = versioned_collapsing.read_restored_ledger(table, options, node, apply) -%}
  {%- set apply = dict(apply, number=ledger.number + 1) -%}
  {%- do versioned_collapsing.validate_finished('rebalance', table, node, ledger, apply) -%}
  {%- set columns = versioned_collapsing.read_table_description(table, options) -%}
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


{# The columns of the table, as get_columns returns them. #}
{% macro read_table_description(table, options) %}
  {%- set stored = [] -%}
  {%- for column in versioned_collapsing.read_table_columns(table) if column.name != options.sign -%}
    {%- do stored.append({'name': column.name, 'type': column.type, 'given_type': column.type}) -%}
  {%- endfor -%}
  {%- do return(versioned_collapsing.get_columns(options, stored, [])) -%}
{% endmacro %}


{% macro read_repairs_sql(table, options, columns) %}
  {%- set tables = versioned_collapsing.read_tables_of(table) -%}
  {%- set has_tombstones = options.remember_deletes and tables.tombstones
      and versioned_collapsing.has_own_tombstones(tables) -%}
  {%- do return(versioned_collapsing.get_repairs_sql(table, options, columns, has_tombstones)) -%}
{% endmacro %}


{# Every whole row whose signs do not add up to what they should, and by how much. They should add up to 1 for the key's
   row with the highest version, and to 0 for its other rows, and for rows at or below the version at which their key
   was deleted. If rows differ but have the same sorting key, partition and version, they would pair with each other.
   They are left alone: a row that was written there could pair with the wrong one. #}
{% macro get_repairs_sql(table, options, columns, has_tombstones) -%}
  {%- set key = versioned_collapsing.quote_names(options.unique_key) -%}
  {%- set version = versioned_collapsing.quote_name(options.version) -%}
  {%- set row = versioned_collapsing.quote_names(columns.names) -%}
  {%- set is_dead = '_dbt_is_tombstone and ' ~ version ~ ' <= _dbt_deleted_at' if has_tombstones else 'false' -%}
  select
    *,
    count() over (partition by {{ key }}, {{ version }}, {{ versioned_collapsing.get_expressions_sql(options.order_by,
        columns) }}, _dbt_partition_id) > 1 as _dbt_is_undecided,
    if(_dbt_is_undecided, _dbt_net_sign, if(_dbt_net_sign > 0 and not _dbt_is_dead and {{ version }} = _dbt_highest, 1,
        0)) - _dbt_net_sign as _dbt_missing
  from (
    select
      *,
      {{ is_dead }} as _dbt_is_dead,
      maxIf({{ version }}, _dbt_net_sign > 0 and not _dbt_is_dead) over (partition by {{ key }}) as _dbt_highest
    from (
      select {{ row }}, any(_partition_id) as _dbt_partition_id,
          sum({{ versioned_collapsing.quote_name(options.sign) }}) as _dbt_net_sign
      from {{ table }}
      group by {{ row }}
      having _dbt_net_sign <> 0
    ) as _dbt_rows
    {%- if has_tombstones %}
    left any join (
      {{ versioned_collapsing.get_tombstones_sql(table, options, of_all_keys=true) }}
    ) as _dbt_tombstones using ({{ key }})
    {%- endif %}
  )
  qualify _dbt_missing <> 0 or _dbt_is_undecided
  {{ versioned_collapsing.get_settings_sql(none, {'allow_suspicious_types_in_group_by': 1}) }}
{%- endmacro %}


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
  {%- do versioned_collapsing.prepare_attachable(signed, table, apply, is_new=true) -%}
  {% call statement('stage_repairs') -%}
    {{ versioned_collapsing.get_stage_rows_sql(table, options, columns, rows, apply) }}
  {%- endcall %}
  {%- set progress = versioned_collapsing.start_publishing(
      table, options, columns, versioned_collapsing.get_initial_progress(), apply
  ) -%}
  {%- do versioned_collapsing.publish_staged_rows(table, options, columns, progress, apply) -%}
  {%- do versioned_collapsing.record_apply(table, apply, dict(progress, counts=counts), 'rebalanced') -%}
  {%- do versioned_collapsing.drop_staged(table, ['signed']) -%}
{% endmacro %}


{% macro get_repair_rows_sql(options, columns, repairs) -%}
  {%- set names = versioned_collapsing.get_stored_names(options, columns)[:-1] -%}
  select {{ versioned_collapsing.quote_names(names) }}, _dbt_sign_to_write
  from (
    select *, toInt8(sign(_dbt_missing)) as _dbt_sign_of_each
    from ({{ repairs }})
    where _dbt_missing <> 0
  )
  array join arrayResize([_dbt_sign_of_each], abs(_dbt_missing), _dbt_sign_of_each) as _dbt_sign_to_write
{%- endmacro %}


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
      ~ ' with two different state rows of one version, left until a newer version comes'
  ) -%}
{% endmacro %}
