{# Stages the change set beside the target: in the target's types, one change a key, each marked
   when the key's tombstone is at or above it. Stops when a value has no place in the table. #}
{% macro stage_changes(target, options, columns, sql) %}
  {%- set changes = _beside(target, 'changes') -%}
  {%- do run_query('drop table if exists ' ~ changes) -%}
  {% call statement('create_staged_changes') -%}
    {{ get_create_staged_changes_sql(changes, options, columns) }}
  {%- endcall %}
  {% call statement('stage_changes') -%}
    {{ get_stage_changes_sql(target, options, columns, sql) }}
  {%- endcall %}
  {%- set rejected = run_query("select count() as n from " ~ changes ~ " where _dbt_problem <> ''").rows[0]['n'] -%}
  {%- if rejected -%}
    {%- do raise_rejected_rows(target, options, columns, sql) -%}
  {%- endif -%}
{% endmacro %}


{% macro get_create_staged_changes_sql(changes, options, columns) -%}
  create table {{ changes }} (
    {%- for column in columns.table %}
    {{ adapter.quote(column.name) }} {{ column.type }},
    {%- endfor %}
    _dbt_is_deleted Bool,
    _dbt_is_tombstoned Bool,
    _dbt_is_buried Bool,
    _dbt_duplicates UInt64,
    _dbt_conflicts UInt64,
    _dbt_problem LowCardinality(String)
  )
  engine = MergeTree
  order by ({{ get_quoted_csv(options.unique_key) }})
{%- endmacro %}


{# At equal version the delete wins, so that the result does not depend on how events were cut into
   runs: across runs a delete at the live version removes the row, and its tombstone keeps it dead. #}
{% macro get_stage_changes_sql(target, options, columns, sql) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set names = get_quoted_csv(columns.names) -%}
  insert into {{ _beside(target, 'changes') }}
    ({{ names }}, _dbt_is_deleted, _dbt_is_tombstoned, _dbt_is_buried, _dbt_duplicates, _dbt_conflicts, _dbt_problem)
  with highest_change as (
    select *
    from ({{ get_cast_changes_sql(options, columns, sql) }})
    order by {{ key }}, _dbt_problem desc, {{ version }} desc, _dbt_is_deleted desc
    limit 1 by {{ key }}
  ),
  tombstones as (
    select {{ key }}, max({{ version }}) as deleted_at, 1 as is_tombstone
    from {{ get_tombstones_relation(target) }}
    where ({{ key }}) in (select {{ key }} from highest_change)
    group by {{ key }}
  )
  select
    {{ names }},
    _dbt_is_deleted,
    is_tombstone = 1 and (deleted_at > {{ version }} or (deleted_at = {{ version }} and not _dbt_is_deleted)) as _dbt_is_tombstoned,
    is_tombstone = 1 and deleted_at = {{ version }} and _dbt_is_deleted as _dbt_is_buried,
    _dbt_duplicates,
    _dbt_conflicts,
    _dbt_problem
  from highest_change
  left join tombstones using ({{ key }})
  settings join_use_nulls = 0, cast_keep_nullable = 0
{%- endmacro %}


{# The change set in the target's types, with a problem for each row that does not fit them. #}
{% macro get_cast_changes_sql(options, columns, sql) -%}
  select
    {%- for column in columns.table %}
    {{ get_cast_sql(column) }} as {{ adapter.quote(column.name) }},
    {%- endfor %}
    {{ _deleted_sql(options, columns) }} as _dbt_is_deleted,
    {{ _count_sql(options.duplicates, columns.has_duplicates) }} as _dbt_duplicates,
    {{ _count_sql(options.conflicts, columns.has_conflicts) }} as _dbt_conflicts,
    {{ get_problem_sql(options, columns) }} as _dbt_problem
  from ({{ sql }}) as given
{%- endmacro %}


{% macro _deleted_sql(options, columns) %}
  {%- do return('ifNull(toBool(given.' ~ adapter.quote(options.is_deleted) ~ '), false)' if columns.has_is_deleted else 'false') -%}
{% endmacro %}


{# A count that the change set carries, or 0. #}
{% macro _count_sql(column, is_given) %}
  {%- do return('toUInt64(ifNull(given.' ~ adapter.quote(column) ~ ', 0))' if is_given else 'toUInt64(0)') -%}
{% endmacro %}


{# What a run that is stopped by its input says: how many rows, why, and some of them. #}
{% macro raise_rejected_rows(target, options, columns, sql) %}
  {%- set query -%}
    select _dbt_problem as problem, count() as n, arrayStringConcat(groupArray(3)(toString(tuple({{ get_quoted_csv(options.unique_key + [options.version]) }}))), ' ') as sample
    from ({{ get_cast_changes_sql(options, columns, sql) }})
    where _dbt_problem <> ''
    group by _dbt_problem
    order by n desc
    settings cast_keep_nullable = 0
  {%- endset -%}
  {%- set lines = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do lines.append(row['n'] ~ " rows: " ~ row['problem'] ~ " (" ~ (options.unique_key + [options.version]) | join(', ') ~ " of some: " ~ row['sample'] ~ ")") -%}
  {%- endfor -%}
  {%- do run_query('drop table if exists ' ~ _beside(target, 'changes')) -%}
  {%- do exceptions.raise_compiler_error(
      "The change set of " ~ target ~ " has rows that do not fit the table; nothing was written.\n  - "
      ~ lines | join("\n  - ") ~ "\nCorrect them upstream, quarantine them, or declare a wider data_type."
  ) -%}
{% endmacro %}
