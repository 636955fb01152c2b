{# The counts of an apply, as the ledger has them. #}
{% macro get_count_names() %}
  {%- do return([
      'rows_read', 'keys', 'states', 'cancels', 'deletes', 'duplicates', 'stale', 'unmerged', 'conflicts', 'tombstoned', 'repaired'
  ]) -%}
{% endmacro %}


{# Counts before anything is compared: what was read, and what one change a key left out. #}
{% macro start_counts(read) %}
  {%- set counts = dict.fromkeys(versioned_collapsing.get_count_names(), 0) -%}
  {%- do counts.update(read) -%}
  {%- do counts.update({'has_writes': false, 'has_deletes': false}) -%}
  {%- do return(counts) -%}
{% endmacro %}


{% macro add_counts(total, counts) %}
  {%- set sum = {} -%}
  {%- for name, value in total.items() -%}
    {%- do sum.update({name: (value or counts[name]) if value is boolean else value + counts.get(name, 0)}) -%}
  {%- endfor -%}
  {%- do return(sum) -%}
{% endmacro %}


{# What was read, before one change a key was kept: rows, those that repeat or contradict another row of the
   same change set, and those below a truncate. #}
{% macro read_change_set_counts(target, options, columns, sql, run) %}
  {%- set read = versioned_collapsing.read_staged_counts(target, options, columns) -%}
  {%- set rows_read = run_query('select count() as n from ' ~ versioned_collapsing._subquery(sql) ~ ' settings ' ~ versioned_collapsing.get_log_comment_setting(run)).rows[0]['n'] | int -%}
  {%- do read.update({'rows_read': rows_read}) -%}
  {%- if run.truncated_at -%}
    {%- set query -%}
      select count() as n from ({{ versioned_collapsing.get_cast_changes_sql(options, columns, sql, {}) }}) where {{ adapter.quote(options.version) }} <= {{ run.truncated_at }}{{ ' and not _dbt_is_deleted' if options.delete_version == 'ignore' }}
      settings {{ versioned_collapsing.get_log_comment_setting(run) }}
    {%- endset -%}
    {%- do read.update({'tombstoned': run_query(query).rows[0]['n'] | int}) -%}
  {%- endif -%}
  {%- if rows_read > read.staged_keys or run.truncated_at -%}
    {%- set key_version = get_quoted_csv(options.unique_key + [options.version]) -%}
    {%- set row = 'tuple(' ~ get_quoted_csv(columns.names) ~ ', _dbt_is_deleted' ~ (', _dbt_unset' if columns.is_folded else '') ~ ')' -%}
    {%- set query -%}
      select
        count() - uniqExact({{ row }}) as duplicates,
        uniqExactIf({{ row }}, not _dbt_is_deleted) - uniqExactIf(tuple({{ key_version }}), not _dbt_is_deleted) as conflicts
      from ({{ versioned_collapsing.get_cast_changes_sql(options, columns, sql, run) }})
      settings {{ versioned_collapsing.get_log_comment_setting(run) }}
    {%- endset -%}
    {%- set repeated = run_query(query).rows[0] -%}
    {%- do read.update({
        'duplicates': read.duplicates + repeated['duplicates'] | int,
        'conflicts': read.conflicts + repeated['conflicts'] | int,
    }) -%}
  {%- endif -%}
  {%- do return(read) -%}
{% endmacro %}


{# The same for changes staged earlier: only what the staged table knows. #}
{% macro read_staged_counts(target, options, columns) %}
  {%- set n = 'uniqExact(tuple(' ~ get_quoted_csv(options.unique_key) ~ '))' if columns.is_folded else 'count()' -%}
  {%- set staged = run_query(
      'select ' ~ n ~ ' as n, sum(_dbt_duplicates) as duplicates, sum(_dbt_conflicts) as conflicts from '
      ~ versioned_collapsing.get_change_set_relation(target, options)
  ).rows[0] -%}
  {%- do return({
      'rows_read': staged['n'] | int,
      'staged_keys': staged['n'] | int,
      'duplicates': staged['duplicates'] | int,
      'conflicts': staged['conflicts'] | int,
  }) -%}
{% endmacro %}


{# What becomes of each staged change; every key falls under one name. #}
{% macro count_outcomes(target, options, columns, run) %}
  {%- set outcomes = {} -%}
  {%- set unmerged = [] -%}
  {%- for row in run_query(versioned_collapsing.get_outcomes_sql(target, options, columns, run)).rows -%}
    {%- do outcomes.update({row['_dbt_outcome']: row['_dbt_n'] | int}) -%}
    {%- do unmerged.append(row['_dbt_unmerged_rows'] | int) -%}
  {%- endfor -%}
  {%- set writes = outcomes.keys() | select('in', ('insert', 'update', 'delete', 'delete of an absent key', 'repaired')) | list -%}
  {%- set counts = versioned_collapsing.start_counts({}) -%}
  {%- do counts.update({
      'keys': outcomes.values() | sum,
      'states': outcomes.get('insert', 0) + outcomes.get('update', 0),
      'cancels': outcomes.get('update', 0) + outcomes.get('delete', 0),
      'deletes': outcomes.get('delete', 0) + outcomes.get('delete of an absent key', 0),
      'duplicates': outcomes.get('duplicate', 0),
      'stale': outcomes.get('stale', 0),
      'unmerged': unmerged | sum,
      'conflicts': outcomes.get('conflict', 0),
      'tombstoned': outcomes.get('tombstoned', 0),
      'repaired': outcomes.get('repaired', 0),
      'has_writes': writes != [],
      'has_deletes': 'delete' in outcomes or 'delete of an absent key' in outcomes or 'repaired' in outcomes,
  }) -%}
  {%- do return(counts) -%}
{% endmacro %}


{% macro get_outcomes_sql(target, options, columns, run) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set sign = adapter.quote(options.sign) -%}
  select
    multiIf(
      odd._dbt_is_odd = 1, 'repaired',
      changed._dbt_is_tombstoned, if(changed._dbt_is_deleted, 'stale', 'tombstoned'),
      stored.{{ sign }} = 0 and changed._dbt_is_buried, 'duplicate',
      stored.{{ sign }} = 0, if(changed._dbt_is_deleted, 'delete of an absent key', 'insert'),
      changed.{{ version }} < stored.{{ version }}, 'stale',
      changed._dbt_is_deleted, 'delete',
      changed.{{ version }} > stored.{{ version }}, 'update',
      {{ versioned_collapsing._same_payload('changed', 'stored', columns) }}, 'duplicate',
      'conflict'
    ) as _dbt_outcome,
    count() as _dbt_n,
    {{ 'sum(changed._dbt_unmerged)' if columns.is_folded else 'toUInt64(0)' }} as _dbt_unmerged_rows
  from {{ versioned_collapsing._beside(target, 'changes') }} as changed
  left any join (select * from {{ versioned_collapsing._beside(target, 'leftovers') }} final) as stored
    on {{ versioned_collapsing._keys_equal('changed', 'stored', options.unique_key) }}
  left join (select *, 1 as _dbt_is_odd from {{ versioned_collapsing._beside(target, 'odd') }}) as odd
    on {{ versioned_collapsing._keys_equal('changed', 'odd', options.unique_key) }}
  group by _dbt_outcome
  settings join_algorithm = 'full_sorting_merge', join_use_nulls = 0, {{ versioned_collapsing.get_log_comment_setting(run) }}
{%- endmacro %}


{# A tuple compares nulls as values; a hash with a null argument would be null. #}
{% macro _same_payload(left, right, columns) %}
  {%- set sides = [] -%}
  {%- for side in (left, right) -%}
    {%- set names = [] -%}
    {%- for column in columns.table if column.name in columns.payload -%}
      {%- do names.append(versioned_collapsing._comparable_sql(side ~ '.' ~ adapter.quote(column.name), column.type)) -%}
    {%- endfor -%}
    {%- do sides.append('tuple(' ~ names | join(', ') ~ ')') -%}
  {%- endfor -%}
  {%- do return(sides | join(' <=> ') if columns.payload else 'true') -%}
{% endmacro %}


{# Two payloads at one version: the stored one stays, since no version says which is right. #}
{% macro report_conflicts(target, options, counts, run, slice) %}
  {%- if counts.conflicts and (options.on_conflict == 'error' or slice == options.shards) -%}
    {%- set message -%}
      {{ target }}: {{ counts.conflicts }} changes have the version of a stored row, or of another change, and another payload. The stored one stays; of two in one change set one is taken.
    {%- endset -%}
    {%- if options.on_conflict == 'error' -%}
      {%- do versioned_collapsing.drop_staged(target) -%}
      {%- do versioned_collapsing.stop_run(run, message ~ " Nothing was written (on_conflict: error).") -%}
    {%- endif -%}
    {%- do exceptions.warn(message) -%}
  {%- endif -%}
{% endmacro %}


{# Partial changes that came too late, or for a key that is not there. #}
{% macro report_unmerged(target, counts) %}
  {%- if counts.unmerged -%}
    {%- do exceptions.warn(
        target ~ ": " ~ counts.unmerged ~ " partial changes could not be combined: the row that they change is newer (they are stale), or is not there."
    ) -%}
  {%- endif -%}
{% endmacro %}
