{# Batches without a change need no rows: a row `applied` in the ledger is enough. #}
{% macro record_empty_change_set(target_relation, columns, carried, progress, apply) %}
  {%- set counts = versioned_collapsing.get_initial_counts({'forgotten': apply.forgotten}) -%}
  {%- if apply.batches or apply.forgotten -%}
    {%- set line_counts = versioned_collapsing.get_line_counts(apply, columns, carried) -%}
    {%- set ended = dict(progress, counts=counts, line_counts=line_counts) -%}
    {%- do versioned_collapsing.keep_lock(apply) -%}
    {%- do versioned_collapsing.record_apply(target_relation, apply, ended, 'applied') -%}
  {%- endif -%}
  {%- do return(counts) -%}
{% endmacro %}

{# The lines of the batches, and the events to account for. If the change set does not count the events that it has left
   out, or if it is only a part, the events are counted from its rows. #}
{% macro get_line_counts(apply, columns, carried) %}
  {%- set needed = ['_duplicates', '_conflicts', '_superseded'] -%}
  {%- set is_told = not apply.is_partial and needed | reject('in', columns.given) | list == [] -%}
  {%- if is_told and apply.manifest_counts.get('events') is not none -%}
    {%- do return(apply.manifest_counts) -%}
  {%- endif -%}
  {%- do return({
      'events':
          carried.rows_read + carried._duplicates + carried._conflicts + carried._superseded - carried._synthetic
          + apply.forgotten,
  }) -%}
{% endmacro %}

{# The counts for the ledger. A delete or an update of a stored row writes a cancel row. #}
{% macro get_counts_of_outcomes(outcomes, unmerged, conflict_sample) %}
  {%- set written = ('insert', 'update', 'delete', 'delete of an absent key', 'rebalanced') -%}
  {%- set deleted = ('delete', 'delete of an absent key', 'rebalanced') -%}
  {%- do return(versioned_collapsing.get_initial_counts({
      'keys': outcomes.values() | sum,
      'states': outcomes.get('insert', 0) + outcomes.get('update', 0),
      'cancels': outcomes.get('update', 0) + outcomes.get('delete', 0),
      'deletes': outcomes.get('delete', 0) + outcomes.get('delete of an absent key', 0),
      'duplicates': outcomes.get('duplicate', 0),
      'late': outcomes.get('late', 0),
      'unmerged': unmerged,
      'conflicts': outcomes.get('conflict', 0),
      'tombstoned': outcomes.get('tombstoned', 0),
      'rebalanced': outcomes.get('rebalanced', 0),
      'conflict_sample': conflict_sample,
      'has_writes': outcomes | select('in', written) | list != [],
      'has_deletes': outcomes | select('in', deleted) | list != [],
  })) -%}
{% endmacro %}

{# The counts of the whole change set, before it is reduced to one change per key.

   - counts: the rows and the counts that they carry; the rows that repeat, contradict or are below another row of the
     same change set; and the rows that a truncate overrides
   - line_counts: the lines and events to account for #}
{% macro read_change_set_counts(options, columns, sql, truncate, staged, apply) %}
  {%- set carried = staged.carried -%}
  {%- set repeated = versioned_collapsing.read_repetitions(options, columns, sql, truncate.at, apply)
      if carried.rows_read > staged.key_count or truncate.at
      else {'duplicates': 0, 'conflicts': 0, 'superseded': 0, 'conflict_sample': []} -%}
  {%- set counts = {
      'rows_read': carried.rows_read,
      'duplicates': carried._duplicates + repeated.duplicates,
      'conflicts': carried._conflicts + repeated.conflicts,
      'superseded': carried._superseded + repeated.superseded,
      'synthetic': carried._synthetic + staged.truncate_deletes,
      'truncates': truncate.count,
      'forgotten': apply.forgotten,
      'tombstoned': versioned_collapsing._read_truncated_count(options, columns, sql, truncate.at, apply),
      'conflict_sample': repeated.conflict_sample,
  } -%}
  {%- do return({
      'counts': versioned_collapsing.get_initial_counts(counts),
      'line_counts': versioned_collapsing.get_line_counts(apply, columns, carried),
  }) -%}
{% endmacro %}

{# The number of rows of a change set that repeat, contradict or are below another one, and a sample of the
   contradictions. Only the rows of keys with several rows are counted, because it takes memory to tell rows apart. A
   key that only shares its hash with another adds nothing. #}
{% macro read_repetitions(options, columns, sql, truncated_at, apply) %}
  {%- set key = 'tuple(' ~ get_quoted_csv(options.unique_key) ~ ')' -%}
  {%- set all_changes = versioned_collapsing.get_cast_changes_sql(options, columns, sql, truncated_at) -%}
  {%- set hash = 'cityHash64(' ~ key ~ ')' -%}
  {%- set changes -%}
    select *
    from ({{ all_changes }})
    where {{ hash }} in (select {{ hash }} as _dbt_hash from ({{ all_changes }}) group by _dbt_hash having count() > 1)
  {%- endset -%}
  {%- set key_version = get_quoted_csv(options.unique_key + [options.version]) -%}
  {%- set names = get_quoted_csv(columns.names) ~ ', _dbt_is_deleted' ~ (', _dbt_unset' if columns.is_folded
      else '') -%}
  {%- set row = 'tuple(' ~ names ~ ')' -%}
  {%- set query -%}
    select
      uniqExact({{ row }}) as _dbt_different,
      uniqExactIf({{ row }}, not _dbt_is_deleted) as _dbt_upserts,
      uniqExactIf(tuple({{ key_version }}), not _dbt_is_deleted) as _dbt_versions,
      uniqExact({{ key }}) as _dbt_keys,
      count() - _dbt_different as _dbt_duplicates_found,
      _dbt_upserts - _dbt_versions as _dbt_conflicts_found,
      _dbt_different - _dbt_conflicts_found - _dbt_keys as _dbt_superseded_found
    from ({{ changes }})
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set contradictions -%}
    select {{ versioned_collapsing.get_shown_values_sql(options.unique_key + [options.version]) }} as _dbt_conflict
    from ({{ changes }})
    where not _dbt_is_deleted
    group by _dbt_conflict
    having uniqExact({{ row }}) > 1
    order by _dbt_conflict
    limit 3
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- set conflicts = found['_dbt_conflicts_found'] | int -%}
  {%- do return({
      'duplicates': found['_dbt_duplicates_found'] | int,
      'conflicts': conflicts,
      'superseded': found['_dbt_superseded_found'] | int,
      'conflict_sample': versioned_collapsing.read_conflict_sample(contradictions) if conflicts else [],
  }) -%}
{% endmacro %}

{% macro read_conflict_sample(query) %}
  {%- do return(run_query(query).rows | map(attribute='_dbt_conflict') | list) -%}
{% endmacro %}

{# The number of changes that a truncate overrides. #}
{% macro _read_truncated_count(options, columns, sql, truncated_at, apply) %}
  {%- if not truncated_at -%}{%- do return(0) -%}{%- endif -%}
  {%- set query -%}
    select count() as _dbt_n
    from ({{ versioned_collapsing.get_cast_changes_sql(options, columns, sql, none) }})
    where {{ adapter.quote(options.version) }} <= {{ truncated_at }}
      {%- if options.delete_version == 'ignore' %}
      and not _dbt_is_deleted
      {%- endif %}
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- do return(run_query(query).rows[0]['_dbt_n'] | int) -%}
{% endmacro %}

{% macro read_signed_row_counts(target_relation, options) %}
  {%- set query -%}
    select
      count() as _dbt_n,
      uniqExact(tuple({{ get_quoted_csv(options.unique_key) }})) as _dbt_keys,
      countIf({{ adapter.quote(options.sign) }} = 1) as _dbt_states
    from {{ versioned_collapsing.get_helper_relation(target_relation, 'signed') }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- do return(versioned_collapsing.get_initial_counts({
      'rows_read': found['_dbt_n'] | int,
      'keys': found['_dbt_keys'] | int,
      'states': found['_dbt_states'] | int,
      'cancels': found['_dbt_n'] | int - found['_dbt_states'] | int,
  })) -%}
{% endmacro %}
