{# The result of the staged changes, given the uncollapsed rows: one change per key, upserts combined with the live row,
   and deletes without a version at that of the live row. It is staged before anything is published: a run that dies
   later is completed from this result, when the live row may already be gone.

   Step by step: the live rows, the changes beside them, the flags that say which changes count, one change per key, and
   this change combined with the live row. #}
{% macro get_resolve_changes_sql(target_relation, options, columns, truncated_at, apply) -%}
  {%- set changes = versioned_collapsing.get_input_sql(target_relation, options) -%}
  insert into {{ versioned_collapsing.get_helper_relation(target_relation, 'folded') }} (
    {{ get_quoted_csv(options.unique_key + columns.payload + [options.version]) }},
    _dbt_unset, _dbt_is_deleted, _dbt_is_tombstoned, _dbt_repeats_delete, _dbt_unmerged
    {{- ', _dbt_chunk' if options.chunks > 1 }}
  )
  with _dbt_live as (
    {{ versioned_collapsing._get_live_rows_sql(target_relation, options, columns) }}
  ),
  _dbt_changed as (
    {{ versioned_collapsing._get_changes_beside_live_rows_sql(changes, options) }}
  ),
  {{ versioned_collapsing.get_steps_sql(
      '_dbt_changed', versioned_collapsing.get_marks(options, columns, truncated_at), '_dbt_marked'
  ) }},
  _dbt_folded as (
    {{ versioned_collapsing.get_fold_sql(options, columns) }}
  )
  select
    {%- for name in options.unique_key %}
    _dbt_folded.{{ adapter.quote(name) }},
    {%- endfor %}
    {%- for name in columns.payload %}
    {{ versioned_collapsing.get_resolved_column_sql(name, options) }},
    {%- endfor %}
    _dbt_folded.{{ adapter.quote(options.version) }},
    _dbt_folded._dbt_folded_unset,
    _dbt_folded._dbt_folded_is_deleted,
    _dbt_folded._dbt_folded_is_tombstoned,
    _dbt_folded._dbt_folded_repeats_delete,
    _dbt_folded._dbt_folded_unmerged
    {{- ', ' ~ options.chunk ~ ' as _dbt_of_chunk' if options.chunks > 1 }}
  from _dbt_folded
  left any join _dbt_live as _dbt_stored
    on {{ versioned_collapsing.get_keys_equal_sql('_dbt_folded', '_dbt_stored', options.unique_key) }}
  {{ versioned_collapsing.get_settings_sql(apply) }}
{%- endmacro %}

{# The live row of each staged key: if it has several uncollapsed state rows, the one with the highest version. #}
{% macro _get_live_rows_sql(target_relation, options, columns) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  select {{ get_quoted_csv(columns.names) }}
  from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, {'needs_final': true}) }}
  where {{ adapter.quote(options.sign) }} = 1
  order by {{ key }}, {{ adapter.quote(options.version) }} desc
  limit 1 by {{ key }}
{%- endmacro %}

{# The changes, each with a flag that says whether its key has a live row, and with the version of that row. #}
{% macro _get_changes_beside_live_rows_sql(changes, options) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  select
    _dbt_input.*,
    _dbt_live_versions._dbt_is_live as _dbt_has_live,
    _dbt_live_versions._dbt_live_version as _dbt_live_version
  from {{ changes }} as _dbt_input
  left any join (
    select {{ key }}, {{ adapter.quote(options.version) }} as _dbt_live_version, true as _dbt_is_live from _dbt_live
  ) as _dbt_live_versions
    on {{ versioned_collapsing.get_keys_equal_sql('_dbt_input', '_dbt_live_versions', options.unique_key) }}
{%- endmacro %}

{# The flags that say which changes count, one flag per step. Both values of `delete_version` end in the same flags.

   | flag of a key  | what it says                                                                          |
   | -------------- | ------------------------------------------------------------------------------------- |
   | has_live       | it has a live row, of version live_version (from the start)                           |
   | has_reset      | one of its upserts is a reset, which builds on nothing; the highest is at reset_at    |
   | has_delete     | one of its changes deletes it; those at or below dead_at are dead                     |
   | has_new        | one of its upserts is new                                                             |
   | builds_on_live | new upserts are combined with the live row: no truncate, delete or reset lies between |

   | flag of a change | what it says                                                                      |
   | ---------------- | --------------------------------------------------------------------------------- |
   | is_new           | an upsert above the live row, the tombstone, the last delete and the last reset   |
   | is_fallback      | stands for its key if no upsert is new: it is then late, a duplicate or a delete |
   | deletes_nothing  | a delete with nothing left to delete                                              |
   | is_taken         | goes into the fold: new, or the fallback                                          |
   | is_late          | a partial change below the live row, which can no longer be combined              |

   With `delete_version: respect`, deletes are ordered among the upserts by version (_get_marks_by_version). With
   `ignore`, they are ordered by batch (_get_marks_by_batch). #}
{% macro get_marks(options, columns, truncated_at) %}
  {%- set version = adapter.quote(options.version) -%}
  {%- set is_reset = '_dbt_is_reset and not _dbt_is_deleted' -%}
  {%- set resets = {
      '_dbt_has_reset': versioned_collapsing._any_of_key_sql(is_reset, options),
      '_dbt_reset_at': versioned_collapsing._highest_of_key_sql(is_reset, options),
  } -%}
  {%- set deletes = versioned_collapsing._get_marks_by_batch(options, truncated_at)
      if options.delete_version == 'ignore' else versioned_collapsing._get_marks_by_version(options, truncated_at) -%}
  {%- set is_late -%}
    not _dbt_is_deleted and not _dbt_is_tombstoned and _dbt_has_live and {{ version }} < _dbt_live_version
      {%- if not options.combine %}
      and {{ versioned_collapsing._is_partial_sql('_dbt_unset', columns) }}
      {%- endif %}
  {%- endset -%}
  {%- set folded = {
      '_dbt_has_new': versioned_collapsing._any_of_key_sql('_dbt_is_new', options),
      '_dbt_is_taken': 'if(_dbt_has_new, _dbt_is_new, _dbt_is_fallback)',
      '_dbt_is_late': is_late,
  } -%}
  {%- do return(dict(dict(resets, **deletes), **folded)) -%}
{% endmacro %}

{# Deletes are ordered among the upserts by version.

   | flag       | what it says                                               |
   | ---------- | ---------------------------------------------------------- |
   | has_delete | one of the key's changes is a delete; the highest: dead_at |
   | highest    | the highest version of the key's changes                   | #}
{% macro _get_marks_by_version(options, truncated_at) %}
  {%- set version = adapter.quote(options.version) -%}
  {%- set is_new -%}
    not _dbt_is_deleted
      and not _dbt_is_tombstoned
      and not (_dbt_has_reset and {{ version }} < _dbt_reset_at)
      and not (_dbt_has_delete and {{ version }} <= _dbt_dead_at)
      and not (_dbt_has_live and {{ version }} <= _dbt_live_version)
  {%- endset -%}
  {%- set is_fallback -%}
    {{ version }} = _dbt_highest and _dbt_is_deleted = (_dbt_has_delete and _dbt_dead_at = _dbt_highest)
  {%- endset -%}
  {%- set builds_on_live -%}
    {{ versioned_collapsing._outlives_truncate_sql(truncated_at) }}
      and not (_dbt_has_delete and _dbt_live_version <= _dbt_dead_at)
      and not (_dbt_has_reset and _dbt_live_version < _dbt_reset_at)
  {%- endset -%}
  {%- do return({
      '_dbt_has_delete': versioned_collapsing._any_of_key_sql('_dbt_is_deleted', options),
      '_dbt_dead_at': versioned_collapsing._highest_of_key_sql('_dbt_is_deleted', options),
      '_dbt_highest': versioned_collapsing._highest_of_key_sql('true', options),
      '_dbt_is_new': is_new,
      '_dbt_is_fallback': is_fallback,
      '_dbt_deletes_nothing': '_dbt_repeats_delete',
      '_dbt_builds_on_live': builds_on_live,
  }) -%}
{% endmacro %}

{# Whether the key has a live row with which changes can be combined. A live row at or below a truncate counts as
   deleted. #}
{% macro _outlives_truncate_sql(truncated_at) %}
  {%- do return('_dbt_has_live' ~ (' and _dbt_live_version > ' ~ truncated_at if truncated_at else '')) -%}
{% endmacro %}

{# Whether a condition holds for any change of the key. #}
{% macro _any_of_key_sql(condition, options) %}
  {%- do return('countIf(' ~ condition ~ ') over (partition by ' ~ get_quoted_csv(options.unique_key) ~ ') > 0') -%}
{% endmacro %}

{# The highest version among the changes of the key for which a condition holds. #}
{% macro _highest_of_key_sql(condition, options) %}
  {%- set version = adapter.quote(options.version) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- do return('maxIf(' ~ version ~ ', ' ~ condition ~ ') over (partition by ' ~ key ~ ')') -%}
{% endmacro %}

{# With `delete_version: ignore`, deletes are ordered by batch. A batch that only deletes a key ends what was there
   before: the live row and the upserts of earlier batches, up to the highest of their versions.

   | flag        | what it says                                                                               |
   | ----------- | ------------------------------------------------------------------------------------------ |
   | is_deleting | the change's batch only deletes the key                                                    |
   | has_delete  | one of the key's batches only deletes it; the last such batch: deleted_in                  |
   | highest     | the highest version of the key's upserts                                                   |
   | is_ended    | an upsert of a batch before deleted_in                                                     |
   | has_ended   | the key has ended upserts; the highest of their versions: ended_version                    |
   | has_dead    | there was something to delete, live row or upserts; the highest of their versions: dead_at | #}
{% macro _get_marks_by_batch(options, truncated_at) %}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set dead_at -%}
    greatest(
      if(_dbt_has_live, _dbt_live_version, _dbt_ended_version),
      if(_dbt_has_ended, _dbt_ended_version, _dbt_live_version)
    )
  {%- endset -%}
  {%- set is_new -%}
    not _dbt_is_deleted
      and not _dbt_is_tombstoned
      and not (_dbt_has_reset and {{ version }} < _dbt_reset_at)
      and if(
        _dbt_has_delete,
        _dbt_batch > _dbt_deleted_in and not (_dbt_has_dead and {{ version }} <= _dbt_dead_at),
        not (_dbt_has_live and {{ version }} <= _dbt_live_version)
      )
  {%- endset -%}
  {%- set is_fallback -%}
    if(_dbt_has_delete, _dbt_is_deleting, not _dbt_is_deleted and {{ version }} = _dbt_highest)
  {%- endset -%}
  {%- set builds_on_live -%}
    {{ versioned_collapsing._outlives_truncate_sql(truncated_at) }}
      and not _dbt_has_delete
      and not (_dbt_has_reset and _dbt_live_version < _dbt_reset_at)
  {%- endset -%}
  {%- do return({
      '_dbt_is_deleting': 'min(_dbt_is_deleted) over (partition by ' ~ key ~ ', _dbt_batch)',
      '_dbt_has_delete': versioned_collapsing._any_of_key_sql('_dbt_is_deleting', options),
      '_dbt_deleted_in': 'maxIf(_dbt_batch, _dbt_is_deleting) over (partition by ' ~ key ~ ')',
      '_dbt_highest': versioned_collapsing._highest_of_key_sql('not _dbt_is_deleted', options),
      '_dbt_is_ended': 'not _dbt_is_deleted and _dbt_has_delete and _dbt_batch < _dbt_deleted_in',
      '_dbt_has_ended': versioned_collapsing._any_of_key_sql('_dbt_is_ended', options),
      '_dbt_ended_version': versioned_collapsing._highest_of_key_sql('_dbt_is_ended', options),
      '_dbt_has_dead': '_dbt_has_delete and (_dbt_has_live or _dbt_has_ended)',
      '_dbt_dead_at': dead_at,
      '_dbt_is_new': is_new,
      '_dbt_is_fallback': is_fallback,
      '_dbt_deletes_nothing': '_dbt_is_deleted and not _dbt_has_dead',
      '_dbt_builds_on_live': builds_on_live,
  }) -%}
{% endmacro %}

{# Whether a change leaves columns as they are stored, apart from those that the model no longer has. #}
{% macro _is_partial_sql(unset, columns) -%}
  arrayExists(_dbt_name -> _dbt_name not in ('', {{ versioned_collapsing.quote_literals(columns.absent) }}),
      {{ unset }})
{%- endmacro %}

{# Folds the changes of each key into one. The policy of each column combines the values of the changes that are taken.
   If no upsert is new, the result is the fallback, and decide_outcomes finds that it is late, a duplicate or a
   delete. #}
{% macro get_fold_sql(options, columns) -%}
  {%- set version = '_dbt_marked.' ~ adapter.quote(options.version) -%}
  {%- set leaves_columns = versioned_collapsing._is_partial_sql('_dbt_folded_unset', columns) -%}
  select
    {{ get_quoted_csv(options.unique_key) }},
    {%- for name in columns.payload %}
    {{ versioned_collapsing._fold_column_sql(name, options) }} as {{ adapter.quote(name) }},
    {%- endfor %}
    if(
      _dbt_folded_is_deleted, any(_dbt_marked._dbt_dead_at), maxIf({{ version }}, _dbt_marked._dbt_is_taken)
    ) as {{ adapter.quote(options.version) }},
    arrayFilter(_dbt_name -> _dbt_name <> '', [
      {%- for name in columns.payload %}
      {#- The name of a column if no change sets it. #}
      if(countIf({{ versioned_collapsing._is_set_sql(name) }}) = 0, {{ versioned_collapsing.quote_literal(name) }}, '')
        {{- ',' if not loop.last }}
      {%- endfor %}
    ]) as _dbt_folded_unset,
    countIf(_dbt_marked._dbt_is_taken and _dbt_marked._dbt_is_deleted) > 0 as _dbt_folded_is_deleted,
    countIf(_dbt_marked._dbt_is_taken and not _dbt_marked._dbt_is_tombstoned) = 0 as _dbt_folded_is_tombstoned,
    countIf(_dbt_marked._dbt_is_taken and _dbt_marked._dbt_deletes_nothing) > 0 as _dbt_folded_repeats_delete,
    any(_dbt_marked._dbt_builds_on_live) as _dbt_combines,
    multiIf(
      _dbt_folded_is_deleted or _dbt_folded_is_tombstoned,
      0,
      any(_dbt_marked._dbt_has_new),
      countIf(_dbt_marked._dbt_is_late and not _dbt_marked._dbt_is_taken) + (not _dbt_combines
          and {{ leaves_columns }}),
      countIf(_dbt_marked._dbt_is_late and _dbt_marked._dbt_is_taken)
    ) as _dbt_folded_unmerged
  from _dbt_marked
  group by {{ get_quoted_csv(options.unique_key) }}
{%- endmacro %}

{# The aggregate that folds the values of one column. Only changes that are taken and set the column count. #}
{% macro _fold_column_sql(name, options) -%}
  {%- set column = '_dbt_marked.' ~ adapter.quote(name) -%}
  {%- set version = '_dbt_marked.' ~ adapter.quote(options.version) -%}
  {%- set is_set = versioned_collapsing._is_set_sql(name) -%}
  {%- set is_value = is_set ~ ' and isNotNull(' ~ column ~ ')' -%}
  {%- set policy = options.combine.get(name, 'latest') -%}
  {%- if policy in ('greatest', 'least') -%}
    {{ 'max' if policy == 'greatest' else 'min' }}If({{ column }}, {{ is_set }})
  {%- else -%}
    tupleElement({{ 'argMin' if policy == 'first' else 'argMax' }}If(tuple({{ column }}), {{ version }}, {{
        is_value if policy in ('coalesce', 'first') else is_set }}), 1)
  {%- endif -%}
{%- endmacro %}

{% macro _is_set_sql(name) -%}
  _dbt_marked._dbt_is_taken and not has(_dbt_marked._dbt_unset, {{ versioned_collapsing.quote_literal(name) }})
{%- endmacro %}

{# A column of a change, combined with the same column of the live row. The aggregate functions are those of the fold,
   so that both ignore null and NaN. #}
{% macro get_resolved_column_sql(name, options) -%}
  {%- set changed = '_dbt_folded.' ~ adapter.quote(name) -%}
  {%- set stored = '_dbt_stored.' ~ adapter.quote(name) -%}
  {%- set combined = {
      'latest': changed,
      'coalesce': 'if(isNull(' ~ changed ~ '), ' ~ stored ~ ', ' ~ changed ~ ')',
      'first': 'if(isNull(' ~ stored ~ '), ' ~ changed ~ ', ' ~ stored ~ ')',
      'greatest': "arrayReduce('max', [" ~ stored ~ ', ' ~ changed ~ '])',
      'least': "arrayReduce('min', [" ~ stored ~ ', ' ~ changed ~ '])',
  }[options.combine.get(name, 'latest')] -%}
  if(
    _dbt_folded._dbt_combines and not _dbt_folded._dbt_folded_is_deleted,
    if(has(_dbt_folded._dbt_folded_unset, {{ versioned_collapsing.quote_literal(name) }}), {{ stored }},
        {{ combined }}),
    {{ changed }}
  )
{%- endmacro %}
