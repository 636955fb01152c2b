{# Counts the outcomes of the staged changes; every key has exactly one outcome. Stages the unbalanced keys. Returns the
   counts and, as `uncollapsed`, how the uncollapsed rows are to be read. #}
{% macro decide_outcomes(target_relation, options, columns, apply) %}
  {%- set found = versioned_collapsing.read_outcomes(
      target_relation, options, columns, {'needs_final': false}, apply, compares_payload=false
  ) -%}
  {%- if found.cancel_count -%}
    {%- set found = versioned_collapsing.read_outcomes(
        target_relation, options, columns, {'needs_final': true}, apply, compares_payload=false
    ) -%}
  {%- endif -%}
  {%- set uncollapsed = found.uncollapsed -%}
  {#- Whether any key has uncollapsed rows that are not exactly one state row. -#}
  {%- set has_unbalanced_keys = found.row_count > found.matched or found.cancel_count > 0 -%}
  {%- if has_unbalanced_keys -%}
    {%- do versioned_collapsing.stage_unbalanced_keys(target_relation, options, uncollapsed, apply) -%}
  {%- endif -%}
  {%- if has_unbalanced_keys or 'same version' in found.outcomes -%}
    {%- set found = versioned_collapsing.read_outcomes(
        target_relation, options, columns, uncollapsed, apply, compares_payload=true
    ) -%}
  {%- endif -%}
  {%- set conflicts = versioned_collapsing.get_conflicts_sql(target_relation, options, columns, uncollapsed, apply) -%}
  {%- set sample = versioned_collapsing.read_conflict_sample(conflicts) if 'conflict' in found.outcomes else [] -%}
  {%- set to_fill = versioned_collapsing.read_columns_to_fill(
      target_relation, options, columns, uncollapsed, apply
  ) if 'conflict' in found.outcomes and options.on_schema_change == 'append_new_columns' else [] -%}
  {%- set counts = versioned_collapsing.get_counts_of_outcomes(found.outcomes, found.unmerged, sample) -%}
  {%- do return(dict(counts, columns_to_fill=to_fill, uncollapsed=uncollapsed)) -%}
{% endmacro %}

{# How many keys have each outcome, how many of them have uncollapsed rows, how many uncollapsed rows and cancel rows
   there are, and how many changes could not be combined. If there are cancel rows, only a read with FINAL has the
   outcomes. #}
{% macro read_outcomes(target_relation, options, columns, uncollapsed, apply, compares_payload) %}
  {%- set query = versioned_collapsing.get_outcomes_sql(
      target_relation, options, columns, uncollapsed, apply, compares_payload
  ) -%}
  {%- set outcomes = {} -%}
  {%- set found = namespace(matched=0, unmerged=0, row_count=0, cancel_count=0) -%}
  {%- for row in run_query(query).rows -%}
    {%- if row['_dbt_outcome'] == 'uncollapsed row' -%}
      {%- set found.row_count, found.cancel_count = row['_dbt_n'] | int, row['_dbt_matched'] | int -%}
    {%- else -%}
      {%- do outcomes.update({row['_dbt_outcome']: row['_dbt_n'] | int}) -%}
      {%- set found.matched = found.matched + row['_dbt_matched'] | int -%}
      {%- set found.unmerged = found.unmerged + row['_dbt_unmerged_rows'] | int -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return({
      'outcomes': outcomes,
      'matched': found.matched,
      'unmerged': found.unmerged,
      'row_count': found.row_count,
      'cancel_count': found.cancel_count,
      'uncollapsed': uncollapsed,
  }) -%}
{% endmacro %}

{# Payloads are compared only if a change has the version of a stored row. Otherwise they are not read. #}
{% macro get_outcomes_sql(target_relation, options, columns, uncollapsed, apply, compares_payload) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set unbalanced = versioned_collapsing.get_helper_relation(target_relation, 'unbalanced') -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set sign = adapter.quote(options.sign) -%}
  {%- set stored = versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) -%}
  {%- if not uncollapsed.needs_final %}
  with (select countIf({{ sign }} < 0) from {{ stored }}) as _dbt_cancels
  {%- endif %}
  select
    'uncollapsed row' as _dbt_outcome,
    count() as _dbt_n,
    countIf({{ sign }} < 0) as _dbt_matched,
    toUInt64(0) as _dbt_unmerged_rows
  from {{ stored }}

  union all

  select
    multiIf(
      _dbt_changed._dbt_is_unbalanced, 'rebalanced',
      _dbt_changed._dbt_is_tombstoned, if(_dbt_changed._dbt_is_deleted, 'late', 'tombstoned'),
      _dbt_stored.{{ sign }} = 0 and _dbt_changed._dbt_repeats_delete, 'duplicate',
      _dbt_stored.{{ sign }} = 0, if(_dbt_changed._dbt_is_deleted, 'delete of an absent key', 'insert'),
      _dbt_changed.{{ version }} < _dbt_stored.{{ version }}, 'late',
      _dbt_changed._dbt_is_deleted, 'delete',
      _dbt_changed.{{ version }} > _dbt_stored.{{ version }}, 'update',
      {%- if compares_payload %}
      {{ versioned_collapsing._get_same_payload_sql('_dbt_changed', '_dbt_stored', columns) }}, 'duplicate',
      'conflict'
      {%- else %}
      'same version'
      {%- endif %}
    ) as _dbt_outcome,
    count() as _dbt_n,
    countIf(_dbt_stored.{{ sign }} <> 0) as _dbt_matched,
    {{ 'sum(_dbt_changed._dbt_unmerged)' if columns.is_folded else 'toUInt64(0)' }} as _dbt_unmerged_rows
  from (
    select *, ({{ key }}) in (select {{ key }} from {{ unbalanced }}) as _dbt_is_unbalanced
    from {{ versioned_collapsing.get_input_sql(target_relation, options) }}
    {{- '\n    where _dbt_cancels = 0' if not uncollapsed.needs_final }}
  ) as _dbt_changed
  left any join (
    select * from {{ stored }}{{ ' where _dbt_cancels = 0' if not uncollapsed.needs_final }}
  ) as _dbt_stored
    on {{ versioned_collapsing.get_keys_equal_sql('_dbt_changed', '_dbt_stored', options.unique_key) }}
  group by _dbt_outcome
  {{ versioned_collapsing.get_settings_sql(apply, {'join_algorithm': 'partial_merge'}) }}
{%- endmacro %}

{# A tuple compares nulls as values; a hash with a null argument would be null. #}
{% macro _get_same_payload_sql(left, right, columns) %}
  {%- set sides = [] -%}
  {%- for side in (left, right) -%}
    {%- set names = [] -%}
    {%- for column in columns.table if column.name in columns.payload -%}
      {%- do names.append(
          versioned_collapsing.get_comparable_sql(side ~ '.' ~ adapter.quote(column.name), column.type)
      ) -%}
    {%- endfor -%}
    {%- do sides.append('tuple(' ~ names | join(', ') ~ ')') -%}
  {%- endfor -%}
  {%- do return(sides | join(' <=> ') if columns.payload else 'true') -%}
{% endmacro %}

{# Keys and versions of a few conflicts: changes with the version of a stored row and another payload. #}
{% macro get_conflicts_sql(target_relation, options, columns, uncollapsed, apply) -%}
  select
    {{ versioned_collapsing.get_shown_values_sql(options.unique_key + [options.version], '_dbt_changed') }}
      as _dbt_conflict
  {{ versioned_collapsing._get_conflicting_rows_sql(target_relation, options, columns, uncollapsed) }}
  order by _dbt_conflict
  limit 3
  {{ versioned_collapsing.get_settings_sql(apply, {'join_algorithm': 'partial_merge'}) }}
{%- endmacro %}

{% macro _get_conflicting_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set unbalanced = versioned_collapsing.get_helper_relation(target_relation, 'unbalanced') -%}
  from (
    select *
    from {{ versioned_collapsing.get_input_sql(target_relation, options) }}
    where not _dbt_is_deleted and not _dbt_is_tombstoned
      and ({{ key }}) not in (select {{ key }} from {{ unbalanced }})
  ) as _dbt_changed
  inner join (
    select * from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
  ) as _dbt_stored
    on {{ versioned_collapsing.get_keys_equal_sql('_dbt_changed', '_dbt_stored', options.unique_key) }}
  where _dbt_changed.{{ version }} = _dbt_stored.{{ version }}
    and not ({{ versioned_collapsing._get_same_payload_sql('_dbt_changed', '_dbt_stored', columns) }})
{%- endmacro %}

{# The columns of conflicts in which the stored row has its type's default and the change has a value, if the two rows
   differ in no other column. This happens if a column was added after the change had been applied. #}
{% macro read_columns_to_fill(target_relation, options, columns, uncollapsed, apply) %}
  {%- set names = [] -%}
  {%- set is_filled = [] -%}
  {%- for column in columns.table if column.name in columns.payload -%}
    {%- set values = {} -%}
    {%- set default = 'defaultValueOfTypeName(' ~ versioned_collapsing.quote_literal(column.type) ~ ')' -%}
    {%- for side, value in {'changed': '_dbt_changed.' ~ adapter.quote(column.name), 'default': default,
        'stored': '_dbt_stored.' ~ adapter.quote(column.name)}.items() -%}
      {%- do values.update({side: 'tuple(' ~ versioned_collapsing.get_comparable_sql(value, column.type) ~ ')'}) -%}
    {%- endfor -%}
    {%- set differs = 'not (' ~ values.changed ~ ' <=> ' ~ values.stored ~ ')' -%}
    {%- do names.append('if(' ~ differs ~ ', ' ~ versioned_collapsing.quote_literal(column.name) ~ ", '')") -%}
    {%- do is_filled.append('(not ' ~ differs ~ ' or ' ~ values.stored ~ ' <=> ' ~ values.default ~ ')') -%}
  {%- endfor -%}
  {%- set query -%}
    select arraySort(arrayFilter(
      _dbt_each -> _dbt_each <> '',
      groupUniqArrayArrayIf([{{ names | join(', ') }}], {{ is_filled | join(' and ') }})
    )) as _dbt_names
    {{ versioned_collapsing._get_conflicting_rows_sql(target_relation, options, columns, uncollapsed) }}
    {{ versioned_collapsing.get_settings_sql(apply, {'join_algorithm': 'partial_merge'}) }}
  {%- endset -%}
  {%- do return(versioned_collapsing.parse_array(run_query(query).rows[0]['_dbt_names'])) -%}
{% endmacro %}

{# A conflict is two different payloads at one version. The version does not tell which one is right. #}
{% macro validate_no_conflicts(target_relation, options, counts, apply) %}
  {%- if counts.conflicts -%}
    {%- do versioned_collapsing.stop_run(apply,
        versioned_collapsing._get_conflict_message(target_relation, options, counts)
        ~ " Nothing was written, because on_conflict is 'error'. Correct the changes, or set on_conflict: warn."
    ) -%}
  {%- endif -%}
{% endmacro %}

{% macro _get_conflict_message(target_relation, options, counts) %}
  {%- set names = (options.unique_key + [options.version]) | join(', ') -%}
  {%- set some = (counts.conflict_sample | unique | list)[:3] | join(', ') -%}
  {%- do return(
      versioned_collapsing.get_final_name(target_relation) ~ ": "
      ~ versioned_collapsing.format_count(counts.conflicts, 'change')
      ~ (" has" if counts.conflicts == 1 else " have")
      ~ " the same version as a stored row or another change, but a different payload."
      ~ (" Examples (" ~ names ~ "): " ~ some ~ "." if some else "")
  ) -%}
{% endmacro %}

{# In the first build of a table, more conflicts than keys show that the key or the version is not what the model
   assumes. Most of the rows would be dropped. #}
{% macro validate_key_and_version(target_relation, options, counts, apply) %}
  {%- if apply.is_first and counts.conflicts > counts['keys'] -%}
    {%- do versioned_collapsing.stop_run(apply,
        versioned_collapsing._get_conflict_message(target_relation, options, counts) ~ " There are only "
        ~ versioned_collapsing.format_count(counts['keys'], 'key') ~ ". Nothing was written. Either unique_key ("
        ~ options.unique_key | join(', ') ~ ") does not identify a row, or version (" ~ options.version
        ~ ") does not grow with its changes. Correct the option."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Batches were taken again, and bring values for columns that the table did not have when it applied them. The stored
   rows have the same versions and are not replaced, so these values would be missing for ever. #}
{% macro validate_nothing_to_fill(target_relation, counts, apply) %}
  {%- set names = counts.columns_to_fill | unique | join(', ') -%}
  {%- do versioned_collapsing.stop_run(apply,
      target_relation ~ " lacks values of " ~ names ~ " that batches have which it applied before. No row is replaced "
      ~ "at its version. Nothing was written. To fill the columns, rebuild the table: " ~ apply.rebuild_command
      ~ ". Or take these batches no second time."
  ) -%}
{% endmacro %}

{% macro warn_of_conflicts(target_relation, options, counts, apply) %}
  {%- if counts.conflicts -%}
    {%- do exceptions.warn(
        versioned_collapsing._get_conflict_message(target_relation, options, counts)
        ~ " A stored row stays as it is. Of two such changes in one change set, one is applied. "
        ~ ("The stored rows lack " ~ counts.columns_to_fill | unique | join(', ') ~ ". To fill new columns, rebuild "
        ~ "the table: " ~ apply.rebuild_command if counts.columns_to_fill
        else "Find out why the version does not grow with every change.")
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Without a manifest nothing compares positions before they are applied, so that a source that moved to another server
   shows only here: its changes are below the stored rows, and would stay out for ever. #}
{% macro warn_of_late_changes(target_relation, counts, apply) %}
  {%- set late = counts.late + counts.tombstoned -%}
  {%- if not apply.has_manifest and late >= 3 and late * 2 > counts['keys'] -%}
    {%- do exceptions.warn(
        versioned_collapsing.get_final_name(target_relation) ~ ": the changes of " ~ late ~ " of "
        ~ versioned_collapsing.format_count(counts['keys'], 'key')
        ~ " have lower versions than the stored rows or deletes, and were left out. If they are newer all the same, "
        ~ "their source moved to another server or was restored, and its positions began anew. Load the landing "
        ~ "table anew, and rebuild: " ~ apply.rebuild_command ~ ". Or, with kafka_connect_changes, lift them by the "
        ~ "time from which on they are of the new server: epochs=['2026-01-05 10:00:00']."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Warns of partial changes that came too late, or whose key has no stored row. #}
{% macro warn_of_unmerged_changes(target_relation, counts) %}
  {%- if counts.unmerged -%}
    {%- do exceptions.warn(
        versioned_collapsing.get_final_name(target_relation) ~ ": "
        ~ versioned_collapsing.format_count(counts.unmerged, 'partial change')
        ~ " could not be combined: the stored row is newer, and the change is skipped, or there is no stored row, and "
        ~ "the change is written with the columns that it has. Send complete rows for these keys."
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Adds the rows to write to the staged table `signed`, and the deletes to remember to the staged table `deletes`. #}
{% macro stage_rows_to_write(target_relation, options, columns, counts, apply) %}
  {%- set uncollapsed = counts.uncollapsed -%}
  {%- set rows = versioned_collapsing.get_publish_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {%- do versioned_collapsing.keep_lock(apply) -%}
  {% call statement('stage_rows_to_write') -%}
    {{ versioned_collapsing.get_stage_rows_sql(target_relation, options, columns, rows, apply) }}
  {%- endcall %}
  {%- if counts.rebalanced -%}
    {%- set rows = versioned_collapsing.get_rebalancing_rows_sql(target_relation, options, columns, uncollapsed) -%}
    {%- do versioned_collapsing.keep_lock(apply) -%}
    {% call statement('stage_rebalancing_rows') -%}
      {{ versioned_collapsing.get_stage_rows_sql(target_relation, options, columns, rows, apply) }}
    {%- endcall %}
  {%- endif -%}
  {%- if options.remember_deletes and counts.has_deletes -%}
    {%- do versioned_collapsing.keep_lock(apply) -%}
    {% call statement('stage_deletes') -%}
      {{ versioned_collapsing.get_stage_deletes_sql(target_relation, options, uncollapsed, apply) }}
    {%- endcall %}
  {%- endif -%}
{% endmacro %}

{# The cancel and state rows of keys with at most one uncollapsed row, which is a state row. Cancel rows are read from
   the stored rows and state rows from the changes. Of the other side, a join reads only keys, versions and flags. #}
{% macro get_publish_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set sign = adapter.quote(options.sign) -%}
  {%- set names = get_quoted_csv(versioned_collapsing.get_stored_names(options, columns)[:-1]) -%}
  {%- set is_decided -%}
    not _dbt_is_tombstoned
      and ({{ key }}) not in (
        select {{ key }} from {{ versioned_collapsing.get_helper_relation(target_relation, 'unbalanced') }}
      )
  {%- endset -%}
  select {{ names }}, toInt8(-1) as _dbt_new_sign
  from (
    select * from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
  ) as _dbt_stored
  left any join (
    select {{ key }}, {{ version }} as _dbt_changed_version, _dbt_is_deleted, true as _dbt_is_changed
    from {{ versioned_collapsing.get_input_sql(target_relation, options) }}
    where {{ is_decided }}
  ) as _dbt_changed using ({{ key }})
  where _dbt_is_changed
    and {{ sign }} = 1
    and (
      _dbt_changed_version > {{ version }}
      or (_dbt_is_deleted and _dbt_changed_version = {{ version }})
    )

  union all

  select {{ names }}, toInt8(1) as _dbt_new_sign
  from (
    select *
    from {{ versioned_collapsing.get_input_sql(target_relation, options) }}
    where not _dbt_is_deleted and {{ is_decided }}
  ) as _dbt_changed
  left any join (
    select {{ key }}, {{ version }} as _dbt_stored_version, {{ sign }} as _dbt_stored_sign
    from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
  ) as _dbt_stored using ({{ key }})
  where _dbt_stored_sign = 0 or {{ version }} > _dbt_stored_version
{%- endmacro %}

{# The deletes that are applied: those whose key has no newer live row. #}
{% macro get_stage_deletes_sql(target_relation, options, uncollapsed, apply) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  insert into {{ versioned_collapsing.get_helper_relation(target_relation, 'deletes') }} ({{ key }}, {{ version }})
  select {{ key }}, _dbt_input.{{ version }}
  from {{ versioned_collapsing.get_input_sql(target_relation, options) }} as _dbt_input
  left join (
    select {{ key }}, max({{ version }}) as _dbt_live_version, 1 as _dbt_is_live
    from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
    where {{ adapter.quote(options.sign) }} = 1
    group by {{ key }}
  ) as _dbt_live using ({{ key }})
  where _dbt_input._dbt_is_deleted
    and not _dbt_input._dbt_is_tombstoned
    and not _dbt_input._dbt_repeats_delete
    and (_dbt_live._dbt_is_live = 0 or _dbt_input.{{ version }} >= _dbt_live._dbt_live_version)
  {{ versioned_collapsing.get_settings_sql(apply) }}
{%- endmacro %}
