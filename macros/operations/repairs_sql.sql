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
