{# Folds the changes of each key into one. What counts are the upserts above the live row and after the last
   delete: `is_after`. Of each column they are combined as the policy says. Where there are none, the change is
   the highest one, which count_outcomes finds to be stale, a duplicate or a delete. #}
{% macro get_fold_sql(options, columns) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  select
    {{ key }},
    {%- for name in columns.payload %}
    {{ versioned_collapsing._fold_column_sql(name, options) }} as {{ adapter.quote(name) }},
    {%- endfor %}
    if(_dbt_folded_is_deleted, any(_dbt_marked._dbt_dead_at), maxIf(_dbt_marked.{{ version }}, _dbt_is_taken)) as {{ version }},
    arrayFilter(_dbt_name -> _dbt_name <> '', [
      {%- for name in columns.payload %}if(countIf({{ versioned_collapsing._is_set_sql(name) }}) = 0, {{ versioned_collapsing.quote_literal(name) }}, ''){{ ', ' if not loop.last }}{% endfor -%}
    ]) as _dbt_folded_unset,
    countIf(_dbt_is_taken and _dbt_marked._dbt_is_deleted) > 0 as _dbt_folded_is_deleted,
    countIf(_dbt_is_taken and not _dbt_marked._dbt_is_tombstoned) = 0 as _dbt_folded_is_tombstoned,
    countIf(_dbt_is_taken and _dbt_buries) > 0 as _dbt_folded_is_buried,
    any(_dbt_is_base) as _dbt_combines,
    multiIf(
      _dbt_folded_is_deleted or _dbt_folded_is_tombstoned, 0,
      any(_dbt_has_after), countIf(_dbt_is_late and not _dbt_is_taken) + (not _dbt_combines and {{ versioned_collapsing._is_partial_sql('_dbt_folded_unset', columns) }}),
      countIf(_dbt_is_late and _dbt_is_taken)
    ) as _dbt_folded_unmerged
  from (
    select
      *,
      countIf(_dbt_is_after) over (partition by {{ key }}) > 0 as _dbt_has_after,
      if(_dbt_has_after, _dbt_is_after, _dbt_is_last) as _dbt_is_taken,
      not _dbt_is_deleted and not _dbt_is_tombstoned and _dbt_has_live and {{ version }} < _dbt_live_version
        and {{ 'true' if options.combine else versioned_collapsing._is_partial_sql('_dbt_unset', columns) }} as _dbt_is_late
    from (
      {{ versioned_collapsing.get_marks_without_versions_sql(options, columns) if options.delete_version == 'ignore' else versioned_collapsing.get_marks_sql(options, columns) }}
    )
  ) as _dbt_marked
  group by {{ key }}
{%- endmacro %}


{# Marks each change; deletes are ordered among the upserts by version. `is_base` says whether what is left of
   the changes builds on the live row: no delete and no reset lies between. #}
{% macro get_marks_sql(options, columns) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  select
    *,
    countIf(_dbt_is_deleted) over (partition by {{ key }}) > 0 as _dbt_has_delete,
    maxIf({{ version }}, _dbt_is_deleted) over (partition by {{ key }}) as _dbt_dead_at,
    max({{ version }}) over (partition by {{ key }}) as _dbt_highest,
    {{ versioned_collapsing._reset_marks_sql(options) }},
    not _dbt_is_deleted and not _dbt_is_tombstoned
      and not (_dbt_has_reset and {{ version }} < _dbt_reset_at)
      and not (_dbt_has_delete and {{ version }} <= _dbt_dead_at)
      and not (_dbt_has_live and {{ version }} <= _dbt_live_version) as _dbt_is_after,
    {{ version }} = _dbt_highest and _dbt_is_deleted = (_dbt_has_delete and _dbt_dead_at = _dbt_highest) as _dbt_is_last,
    _dbt_is_buried as _dbt_buries,
    _dbt_is_alive and not (_dbt_has_delete and _dbt_live_version <= _dbt_dead_at) and not (_dbt_has_reset and _dbt_live_version < _dbt_reset_at) as _dbt_is_base
  from _dbt_changed
{%- endmacro %}


{# With `delete_version: ignore` batches come in order: a batch that only deletes a key ends what was there
   before it, live row and upserts, up to the highest of their versions. #}
{% macro get_marks_without_versions_sql(options, columns) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  select
    *,
    _dbt_has_delete and (_dbt_has_live or _dbt_has_before) as _dbt_has_dead,
    greatest(if(_dbt_has_live, _dbt_live_version, _dbt_before_version), if(_dbt_has_before, _dbt_before_version, _dbt_live_version)) as _dbt_dead_at,
    not _dbt_is_deleted and not _dbt_is_tombstoned
      and not (_dbt_has_reset and {{ version }} < _dbt_reset_at)
      and if(_dbt_has_delete, _dbt_batch > _dbt_deleted_in and not (_dbt_has_dead and {{ version }} <= _dbt_dead_at), not (_dbt_has_live and {{ version }} <= _dbt_live_version)) as _dbt_is_after,
    if(_dbt_has_delete, _dbt_is_deleting, not _dbt_is_deleted and {{ version }} = _dbt_highest) as _dbt_is_last,
    _dbt_is_deleted and not _dbt_has_dead as _dbt_buries,
    _dbt_is_alive and not _dbt_has_delete and not (_dbt_has_reset and _dbt_live_version < _dbt_reset_at) as _dbt_is_base
  from (
    select
      *,
      countIf(_dbt_is_before) over (partition by {{ key }}) > 0 as _dbt_has_before,
      maxIf({{ version }}, _dbt_is_before) over (partition by {{ key }}) as _dbt_before_version
    from (
      select
        *,
        countIf(_dbt_is_deleting) over (partition by {{ key }}) > 0 as _dbt_has_delete,
        maxIf(_dbt_batch, _dbt_is_deleting) over (partition by {{ key }}) as _dbt_deleted_in,
        maxIf({{ version }}, not _dbt_is_deleted) over (partition by {{ key }}) as _dbt_highest,
        {{ versioned_collapsing._reset_marks_sql(options) }},
        not _dbt_is_deleted and _dbt_has_delete and _dbt_batch < _dbt_deleted_in as _dbt_is_before
      from (
        select *, min(_dbt_is_deleted) over (partition by {{ key }}, _dbt_batch) as _dbt_is_deleting
        from _dbt_changed
      )
    )
  )
{%- endmacro %}


{# A change with `_reset` does not build on what is below it. #}
{% macro _reset_marks_sql(options) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  countIf(_dbt_is_reset and not _dbt_is_deleted) over (partition by {{ key }}) > 0 as _dbt_has_reset,
    maxIf({{ adapter.quote(options.version) }}, _dbt_is_reset and not _dbt_is_deleted) over (partition by {{ key }}) as _dbt_reset_at
{%- endmacro %}


{% macro _fold_column_sql(name, options) -%}
  {%- set column = '_dbt_marked.' ~ adapter.quote(name) -%}
  {%- set version = '_dbt_marked.' ~ adapter.quote(options.version) -%}
  {%- set is_set = versioned_collapsing._is_set_sql(name) -%}
  {%- set policy = options.combine.get(name, 'latest') -%}
  {%- if policy == 'greatest' -%}
    maxIf({{ column }}, {{ is_set }})
  {%- elif policy == 'least' -%}
    minIf({{ column }}, {{ is_set }})
  {%- elif policy == 'coalesce' -%}
    argMaxIf(tuple({{ column }}), {{ version }}, {{ is_set }} and isNotNull({{ column }})).1
  {%- elif policy == 'first' -%}
    argMinIf(tuple({{ column }}), {{ version }}, {{ is_set }} and isNotNull({{ column }})).1
  {%- else -%}
    argMaxIf(tuple({{ column }}), {{ version }}, {{ is_set }}).1
  {%- endif -%}
{%- endmacro %}


{% macro _is_set_sql(name) -%}
  _dbt_is_taken and not has(_dbt_marked._dbt_unset, {{ versioned_collapsing.quote_literal(name) }})
{%- endmacro %}


{# Whether a change leaves columns as they are stored, apart from those that the model has no more. #}
{% macro _is_partial_sql(unset, columns) -%}
  arrayExists(_dbt_name -> _dbt_name not in ('', {{ versioned_collapsing.quote_literals(columns.absent) }}), {{ unset }})
{%- endmacro %}
