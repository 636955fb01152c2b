{# What becomes of each staged change; every key falls under one name. #}
{% macro count_outcomes(target, options, columns, run) %}
  {%- set found = versioned_collapsing.read_outcomes(target, options, columns, run, compares_payload=false) -%}
  {%- set has_torn_keys = versioned_collapsing.has_torn_keys(target, options, found.matched) -%}
  {%- if has_torn_keys -%}
    {%- do versioned_collapsing.stage_torn_keys(target, options, run) -%}
  {%- endif -%}
  {%- if has_torn_keys or 'same version' in found.outcomes -%}
    {%- set found = versioned_collapsing.read_outcomes(target, options, columns, run, compares_payload=true) -%}
  {%- endif -%}
  {%- set outcomes = found.outcomes -%}
  {%- if 'conflict' in outcomes -%}
    {%- do versioned_collapsing.read_conflict_sample(versioned_collapsing.get_conflicts_sql(target, options, columns, run), run) -%}
  {%- endif -%}
  {%- set writes = outcomes.keys() | select('in', ('insert', 'update', 'delete', 'delete of an absent key', 'repaired')) | list -%}
  {%- set counts = versioned_collapsing.start_counts({}) -%}
  {%- do counts.update({
      'keys': outcomes.values() | sum,
      'states': outcomes.get('insert', 0) + outcomes.get('update', 0),
      'cancels': outcomes.get('update', 0) + outcomes.get('delete', 0),
      'deletes': outcomes.get('delete', 0) + outcomes.get('delete of an absent key', 0),
      'duplicates': outcomes.get('duplicate', 0),
      'stale': outcomes.get('stale', 0),
      'unmerged': found.unmerged,
      'conflicts': outcomes.get('conflict', 0),
      'tombstoned': outcomes.get('tombstoned', 0),
      'repaired': outcomes.get('repaired', 0),
      'has_writes': writes != [],
      'has_deletes': 'delete' in outcomes or 'delete of an absent key' in outcomes or 'repaired' in outcomes,
  }) -%}
  {%- do return(counts) -%}
{% endmacro %}


{% macro read_outcomes(target, options, columns, run, compares_payload) %}
  {%- set outcomes = {} -%}
  {%- set total = namespace(matched=0, unmerged=0) -%}
  {%- for row in run_query(versioned_collapsing.get_outcomes_sql(target, options, columns, run, compares_payload)).rows -%}
    {%- do outcomes.update({row['_dbt_outcome']: row['_dbt_n'] | int}) -%}
    {%- set total.matched = total.matched + row['_dbt_matched'] | int -%}
    {%- set total.unmerged = total.unmerged + row['_dbt_unmerged_rows'] | int -%}
  {%- endfor -%}
  {%- do return({'outcomes': outcomes, 'matched': total.matched, 'unmerged': total.unmerged}) -%}
{% endmacro %}


{# Whether any key has other uncollapsed rows than one state row, given how many keys have any. #}
{% macro has_torn_keys(target, options, matched) %}
  {%- set query -%}
    select count() as _dbt_n, countIf({{ adapter.quote(options.sign) }} < 0) as _dbt_cancels
    from {{ versioned_collapsing.get_uncollapsed_rows_sql(target, options) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set uncollapsed = run_query(query).rows[0] -%}
  {%- do return(uncollapsed['_dbt_n'] | int > matched or uncollapsed['_dbt_cancels'] | int > 0) -%}
{% endmacro %}


{# Payloads are compared when there are changes at the version of a stored row: without, they are not read. #}
{% macro get_outcomes_sql(target, options, columns, run, compares_payload) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set sign = adapter.quote(options.sign) -%}
  select
    multiIf(
      _dbt_changed._dbt_is_torn, 'repaired',
      _dbt_changed._dbt_is_tombstoned, if(_dbt_changed._dbt_is_deleted, 'stale', 'tombstoned'),
      _dbt_stored.{{ sign }} = 0 and _dbt_changed._dbt_is_buried, 'duplicate',
      _dbt_stored.{{ sign }} = 0, if(_dbt_changed._dbt_is_deleted, 'delete of an absent key', 'insert'),
      _dbt_changed.{{ version }} < _dbt_stored.{{ version }}, 'stale',
      _dbt_changed._dbt_is_deleted, 'delete',
      _dbt_changed.{{ version }} > _dbt_stored.{{ version }}, 'update',
      {%- if compares_payload %}
      {{ versioned_collapsing._same_payload('_dbt_changed', '_dbt_stored', columns) }}, 'duplicate',
      'conflict'
      {%- else %}
      'same version'
      {%- endif %}
    ) as _dbt_outcome,
    count() as _dbt_n,
    countIf(_dbt_stored.{{ sign }} <> 0) as _dbt_matched,
    {{ 'sum(_dbt_changed._dbt_unmerged)' if columns.is_folded else 'toUInt64(0)' }} as _dbt_unmerged_rows
  from (
    select *, ({{ key }}) in (select {{ key }} from {{ versioned_collapsing.get_helper_relation(target, 'torn') }}) as _dbt_is_torn
    from {{ versioned_collapsing.get_helper_relation(target, 'changes') }}
  ) as _dbt_changed
  left any join (select * from {{ versioned_collapsing.get_uncollapsed_rows_sql(target, options) }}) as _dbt_stored
    on {{ versioned_collapsing.get_keys_equal_sql('_dbt_changed', '_dbt_stored', options.unique_key) }}
  group by _dbt_outcome
  {{ versioned_collapsing.get_settings_sql(run, {'join_algorithm': 'partial_merge'}) }}
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


{# Keys and versions of a few changes at the version of a stored row, with another payload. #}
{% macro get_conflicts_sql(target, options, columns, run) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  select toString(tuple({% for name in options.unique_key + [options.version] %}_dbt_changed.{{ adapter.quote(name) }}{{ ', ' if not loop.last }}{% endfor %})) as _dbt_conflict
  from (
    select *
    from {{ versioned_collapsing.get_helper_relation(target, 'changes') }}
    where not _dbt_is_deleted and not _dbt_is_tombstoned
      and ({{ key }}) not in (select {{ key }} from {{ versioned_collapsing.get_helper_relation(target, 'torn') }})
  ) as _dbt_changed
  inner join (select * from {{ versioned_collapsing.get_uncollapsed_rows_sql(target, options) }}) as _dbt_stored
    on {{ versioned_collapsing.get_keys_equal_sql('_dbt_changed', '_dbt_stored', options.unique_key) }}
  where _dbt_changed.{{ version }} = _dbt_stored.{{ version }}
    and not ({{ versioned_collapsing._same_payload('_dbt_changed', '_dbt_stored', columns) }})
  order by _dbt_conflict
  limit 3
  {{ versioned_collapsing.get_settings_sql(run, {'join_algorithm': 'partial_merge'}) }}
{%- endmacro %}


{# Adds what the query finds to the run's sample of conflicts. #}
{% macro read_conflict_sample(query, run) %}
  {%- do run.update({'conflicts': (run.conflicts or []) + (run_query(query).rows | map(attribute='_dbt_conflict') | list)}) -%}
{% endmacro %}


{% macro get_conflict_sample(options, run) %}
  {%- if run.conflicts -%}
    {%- do return(' (' ~ (options.unique_key + [options.version]) | join(', ') ~ ' of some: ' ~ (run.conflicts | unique | list)[:3] | join(' ') ~ ')') -%}
  {%- endif -%}
  {%- do return('') -%}
{% endmacro %}


{# Two payloads at one version: the stored one stays, since no version says which is right. #}
{% macro report_conflicts(target, options, counts, run, chunk) %}
  {%- if counts.conflicts and (options.on_conflict == 'error' or chunk == options.chunks) -%}
    {%- set message -%}
      {{ target }}: {{ versioned_collapsing.format_count(counts.conflicts, 'change') }} {{ 'has' if counts.conflicts == 1 else 'have' }} the version of a stored row, or of another change, and another payload
      {{- versioned_collapsing.get_conflict_sample(options, run) }}. The stored one stays; of two in one change set one is taken.
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
        target ~ ": " ~ versioned_collapsing.format_count(counts.unmerged, 'partial change') ~ " could not be combined: the stored row is newer, or there is none."
    ) -%}
  {%- endif -%}
{% endmacro %}
