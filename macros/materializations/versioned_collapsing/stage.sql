{# Stages the change set beside the target: in the target's types, one change a key, each marked when the
   key's tombstone is at or above it. Stops when a value has no place in the table. #}
{% macro stage_change_set(target, options, columns, sql, run) %}
  {%- set staged = versioned_collapsing.get_change_set_relation(target, options) -%}
  {%- do run_query('drop table if exists ' ~ staged) -%}
  {% call statement('create_staged_changes') -%}
    {{ versioned_collapsing.get_create_staged_changes_sql(staged, options, columns) }}
  {%- endcall %}
  {% call statement('stage_changes') -%}
    {{ versioned_collapsing.get_stage_changes_sql(target, options, columns, sql, run, versioned_collapsing.has_tombstones(target, options)) }}
  {%- endcall %}
  {%- set rejected = run_query("select count() as _dbt_n from " ~ staged ~ " where _dbt_problem <> '' " ~ versioned_collapsing.get_settings_sql()).rows[0]['_dbt_n'] -%}
  {%- if rejected -%}
    {%- do versioned_collapsing.raise_rejected_rows(target, options, columns, sql, run) -%}
  {%- endif -%}
  {%- if run.truncated_now -%}
    {%- set staged_before = versioned_collapsing.count_staged_rows(target, versioned_collapsing.get_change_set_role(options)) -%}
    {% call statement('stage_truncate') -%}
      {{ versioned_collapsing.get_stage_truncate_sql(target, options, run) }}
    {%- endcall %}
    {%- do run.update({'truncate_deletes': versioned_collapsing.count_staged_rows(target, versioned_collapsing.get_change_set_role(options)) - staged_before}) -%}
  {%- endif -%}
{% endmacro %}


{# Where the whole change set is staged: what is applied at once is `changes`, all of it or a chunk. #}
{% macro get_change_set_relation(target, options) %}
  {%- do return(versioned_collapsing.get_helper_relation(target, versioned_collapsing.get_change_set_role(options))) -%}
{% endmacro %}


{% macro get_change_set_role(options) %}
  {%- do return('change_set' if options.chunks > 1 else 'changes') -%}
{% endmacro %}


{% macro get_create_staged_changes_sql(changes, options, columns) -%}
  create table {{ changes }} (
    {%- for column in columns.table %}
    {{ adapter.quote(column.name) }} {{ column.type }},
    {%- endfor %}
    {%- if columns.is_folded %}
    _dbt_unset Array(LowCardinality(String)),
    _dbt_is_reset Bool,
    _dbt_batch UInt64,
    _dbt_unmerged UInt64,
    {%- endif %}
    _dbt_is_deleted Bool,
    _dbt_is_tombstoned Bool,
    _dbt_is_buried Bool,
    _dbt_problem LowCardinality(String)
  )
  engine = MergeTree
  order by ({{ get_quoted_csv(options.unique_key) }})
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{% macro get_stage_changes_sql(target, options, columns, sql, run, has_tombstones) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set names = get_quoted_csv(columns.names) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set folding = '_dbt_unset, _dbt_is_reset, _dbt_batch,' if columns.is_folded else '' -%}
  insert into {{ versioned_collapsing.get_change_set_relation(target, options) }} (
    {{ names }}, {{ folding }} _dbt_is_deleted, _dbt_is_tombstoned, _dbt_is_buried, _dbt_problem
  )
  with _dbt_changes as (
    {{ versioned_collapsing.get_cast_changes_sql(options, columns, sql, run) if columns.is_folded else versioned_collapsing.get_highest_change_sql(options, columns, sql, run) }}
  )
  {%- if has_tombstones %},
  _dbt_tombstones as (
    select {{ key }}, max({{ version }}) as _dbt_deleted_at, true as _dbt_is_tombstone
    from {{ versioned_collapsing.get_tombstones_relation(target) }}
    where {{ versioned_collapsing.get_key_lookup_sql(options.unique_key, '_dbt_changes') }}
      {%- if options.remember_deletes is not boolean %} and _remembered_at > now() - {{ versioned_collapsing.get_interval_sql(options.remember_deletes) }}{% endif %}
    group by {{ key }}
  )
  select
    {{ names }}, {{ folding }} _dbt_is_deleted,
    {%- if options.delete_version == 'ignore' %}
    ifNull(_dbt_is_tombstone and _dbt_deleted_at >= {{ version }} and not _dbt_is_deleted, false),
    false,
    {%- else %}
    ifNull(_dbt_is_tombstone and (_dbt_deleted_at > {{ version }} or (_dbt_deleted_at = {{ version }} and not _dbt_is_deleted)), false),
    ifNull(_dbt_is_tombstone and _dbt_deleted_at = {{ version }} and _dbt_is_deleted, false),
    {%- endif %}
    _dbt_problem
  from _dbt_changes
  left join _dbt_tombstones using ({{ key }})
  {%- else %}
  select {{ names }}, {{ folding }} _dbt_is_deleted, false, false, _dbt_problem
  from _dbt_changes
  {%- endif %}
  {{ versioned_collapsing.get_settings_sql(run) }}
{%- endmacro %}


{# At equal version the delete wins, so that the result does not depend on how events were cut into
   runs: across runs a delete at the live version removes the row, and its tombstone keeps it dead. #}
{% macro get_highest_change_sql(options, columns, sql, run) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  select *
  from ({{ versioned_collapsing.get_cast_changes_sql(options, columns, sql, run) }})
  order by {{ key }}, _dbt_problem desc, {{ adapter.quote(options.version) }} desc, _dbt_is_deleted desc
  limit 1 by {{ key }}
{%- endmacro %}


{# The change set in the target's types, with a problem for each row that does not fit them. #}
{% macro get_cast_changes_sql(options, columns, sql, run) -%}
  select
    {%- for column in columns.table %}
    {{ versioned_collapsing.get_cast_sql(column) }} as {{ adapter.quote(column.name) }},
    {%- endfor %}
    {%- if columns.is_folded %}
    {{ versioned_collapsing._unset_sql(columns) }} as _dbt_unset,
    {{ versioned_collapsing._count_sql('_batch', columns) }} as _dbt_batch,
    {%- endif %}
    {{ versioned_collapsing._flag_sql(options.is_deleted, columns) }} as _dbt_is_deleted,
    {{ versioned_collapsing._flag_sql('_reset', columns) }} as _dbt_is_reset,
    {{ versioned_collapsing.get_problem_sql(options, columns) }} as _dbt_problem
  from {{ versioned_collapsing.get_subquery_sql(sql) }} as _dbt_given
  {%- if '_is_truncate' in columns.given %}
  where not {{ versioned_collapsing._flag_sql('_is_truncate', columns) }}
  {%- endif %}
  {%- if run.truncated_at %}
  {{ 'and' if '_is_truncate' in columns.given else 'where' }} (_dbt_problem <> ''{{ ' or _dbt_is_deleted' if options.delete_version == 'ignore' }} or {{ adapter.quote(options.version) }} > {{ run.truncated_at }})
  {%- endif %}
{%- endmacro %}


{# The columns that a change leaves as they are stored: those that it names, and those that the model has no
   more. #}
{% macro _unset_sql(columns) %}
  {%- set absent = '[' ~ versioned_collapsing.quote_literals(columns.absent) ~ ']' -%}
  {%- do return("cast(arrayConcat(" ~ ("_dbt_given._unset, " if '_unset' in columns.given else '') ~ absent ~ "), 'Array(String)')") -%}
{% endmacro %}


{# A flag of the change set; false where it has none. #}
{% macro _flag_sql(name, columns) %}
  {%- do return('ifNull(toBool(_dbt_given.' ~ adapter.quote(name) ~ '), false)' if name in columns.given else 'false') -%}
{% endmacro %}


{# A count that the change set carries, or 0. #}
{% macro _count_sql(name, columns) %}
  {%- do return('toUInt64(ifNull(_dbt_given.' ~ adapter.quote(name) ~ ', 0))' if name in columns.given else 'toUInt64(0)') -%}
{% endmacro %}


{# What a run that is stopped by its input says: how many rows, why, and some of them. #}
{% macro raise_rejected_rows(target, options, columns, sql, run) %}
  {%- set key_and_version = options.unique_key + [options.version] -%}
  {%- set query -%}
    select _dbt_problem, count() as _dbt_n, arrayStringConcat(groupArray(3)(toString(tuple({{ get_quoted_csv(key_and_version) }}))), ' ') as _dbt_sample
    from ({{ versioned_collapsing.get_cast_changes_sql(options, columns, sql, run) }})
    where _dbt_problem <> ''
    group by _dbt_problem
    order by _dbt_n desc
    {{ versioned_collapsing.get_settings_sql(run) }}
  {%- endset -%}
  {%- set lines = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do lines.append(versioned_collapsing.format_count(row['_dbt_n'], 'row') ~ ": " ~ row['_dbt_problem'] ~ " (" ~ key_and_version | join(', ') ~ " of some: " ~ row['_dbt_sample'] ~ ")") -%}
  {%- endfor -%}
  {%- do versioned_collapsing.drop_staged(target) -%}
  {%- do versioned_collapsing.stop_run(run,
      "The change set of " ~ target ~ " has rows that do not fit the table; nothing was written.\n  - "
      ~ lines | join("\n  - ") ~ "\nCorrect them upstream, quarantine them, or declare a wider data_type."
  ) -%}
{% endmacro %}
