{# What was read, before one change a key was kept: rows, and those that repeat or contradict another row
   of the same change set. #}
{% macro read_change_set_counts(target, options, columns, sql) %}
  {%- set staged = read_staged_counts(target) -%}
  {%- set rows_read = run_query('select count() as n from (' ~ sql ~ ')').rows[0]['n'] | int -%}
  {%- do staged.update({'rows_read': rows_read}) -%}
  {%- if rows_read > staged['keys'] -%}
    {%- set key_version = get_quoted_csv(options.unique_key + [options.version]) -%}
    {%- set query -%}
      select
        count() - uniqExact(tuple({{ get_quoted_csv(columns.names) }}, _dbt_is_deleted)) as duplicates,
        uniqExactIf(tuple({{ get_quoted_csv(columns.names) }}), not _dbt_is_deleted)
          - uniqExactIf(tuple({{ key_version }}), not _dbt_is_deleted) as conflicts
      from ({{ get_cast_changes_sql(options, columns, sql) }})
      settings cast_keep_nullable = 0
    {%- endset -%}
    {%- set repeated = run_query(query).rows[0] -%}
    {%- do staged.update({
        'duplicates': staged['duplicates'] + repeated['duplicates'] | int,
        'conflicts': staged['conflicts'] + repeated['conflicts'] | int,
    }) -%}
  {%- endif -%}
  {%- do return(staged) -%}
{% endmacro %}


{# The same for changes staged earlier: only what the staged table knows. #}
{% macro read_staged_counts(target) %}
  {%- set staged = run_query(
      'select count() as n, sum(_dbt_duplicates) as duplicates, sum(_dbt_conflicts) as conflicts from ' ~ _beside(target, 'changes')
  ).rows[0] -%}
  {%- do return({
      'rows_read': staged['n'] | int,
      'keys': staged['n'] | int,
      'duplicates': staged['duplicates'] | int,
      'conflicts': staged['conflicts'] | int,
  }) -%}
{% endmacro %}


{# What becomes of each staged change; every key falls under one name. #}
{% macro count_outcomes(target, options, columns, read) %}
  {%- set outcomes = {} -%}
  {%- for row in run_query(get_outcomes_sql(target, options, columns)).rows -%}
    {%- do outcomes.update({row['outcome']: row['n'] | int}) -%}
  {%- endfor -%}
  {%- do return({
      'rows_read': read.rows_read,
      'keys': read['keys'],
      'states': outcomes.get('insert', 0) + outcomes.get('update', 0),
      'cancels': outcomes.get('update', 0) + outcomes.get('delete', 0),
      'deletes': outcomes.get('delete', 0) + outcomes.get('delete of an absent key', 0),
      'duplicates': outcomes.get('duplicate', 0) + read.duplicates,
      'stale': outcomes.get('stale', 0),
      'conflicts': outcomes.get('conflict', 0) + read.conflicts,
      'tombstoned': outcomes.get('tombstoned', 0),
      'repaired': outcomes.get('repaired', 0),
      'has_deletes': 'delete' in outcomes or 'delete of an absent key' in outcomes or 'repaired' in outcomes,
  }) -%}
{% endmacro %}


{% macro get_outcomes_sql(target, options, columns) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set sign = adapter.quote(options.sign) -%}
  select
    multiIf(
      odd.is_odd = 1, 'repaired',
      changed._dbt_is_tombstoned, if(changed._dbt_is_deleted, 'stale', 'tombstoned'),
      stored.{{ sign }} = 0 and changed._dbt_is_buried, 'duplicate',
      stored.{{ sign }} = 0, if(changed._dbt_is_deleted, 'delete of an absent key', 'insert'),
      changed.{{ version }} < stored.{{ version }}, 'stale',
      changed._dbt_is_deleted, 'delete',
      changed.{{ version }} > stored.{{ version }}, 'update',
      {{ _same_payload('changed', 'stored', columns.payload) }}, 'duplicate',
      'conflict'
    ) as outcome,
    count() as n
  from {{ _beside(target, 'changes') }} as changed
  left any join {{ _beside(target, 'leftovers') }} as stored
    on {{ _keys_equal('changed', 'stored', options.unique_key) }}
  left join (select *, 1 as is_odd from {{ _beside(target, 'odd') }}) as odd
    on {{ _keys_equal('changed', 'odd', options.unique_key) }}
  group by outcome
  settings join_use_nulls = 0
{%- endmacro %}


{# A tuple compares nulls as values; a hash with a null argument would be null. #}
{% macro _same_payload(left, right, payload) %}
  {%- set sides = [] -%}
  {%- for side in (left, right) -%}
    {%- set names = [] -%}
    {%- for name in payload -%}{%- do names.append(side ~ '.' ~ adapter.quote(name)) -%}{%- endfor -%}
    {%- do sides.append('tuple(' ~ names | join(', ') ~ ')') -%}
  {%- endfor -%}
  {%- do return(sides | join(' <=> ') if payload else 'true') -%}
{% endmacro %}


{# Two payloads at one version: the stored one stays, since no version says which is right. #}
{% macro report_conflicts(target, options, counts) %}
  {%- if counts.conflicts -%}
    {%- set message -%}
      {{ target }}: {{ counts.conflicts }} changes have the version of a stored row, or of another change, and another payload. The stored one stays; of two in one change set one is taken.
    {%- endset -%}
    {%- if options.on_conflict == 'error' -%}
      {%- do drop_staged(target) -%}
      {%- do exceptions.raise_compiler_error(message ~ " Nothing was written (on_conflict: error).") -%}
    {%- endif -%}
    {%- do exceptions.warn(message) -%}
  {%- endif -%}
{% endmacro %}
