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
    if(is_deleted, any(marked.dead_at), maxIf(marked.{{ version }}, is_taken)) as {{ version }},
    arrayFilter(name -> name <> '', [
      {%- for name in columns.payload %}if(countIf({{ versioned_collapsing._is_set_sql(name) }}) = 0, '{{ name }}', ''){{ ', ' if not loop.last }}{% endfor -%}
    ]) as unset,
    countIf(is_taken and marked._dbt_is_deleted) > 0 as is_deleted,
    countIf(is_taken and not marked._dbt_is_tombstoned) = 0 as is_tombstoned,
    countIf(is_taken and is_buried) > 0 as is_buried_key,
    any(is_base) as combines,
    multiIf(
      is_deleted or is_tombstoned, 0,
      any(has_after), countIf(is_late and not is_taken) + (not combines and {{ versioned_collapsing._is_partial_sql('unset', columns) }}),
      countIf(is_late and is_taken)
    ) as unmerged,
    sum(marked._dbt_duplicates) as duplicates,
    sum(marked._dbt_conflicts) as conflicts
  from (
    select
      *,
      countIf(is_after) over (partition by {{ key }}) > 0 as has_after,
      if(has_after, is_after, is_last) as is_taken,
      not _dbt_is_deleted and not _dbt_is_tombstoned and has_live and {{ version }} < live_version
        and {{ 'true' if options.combine else versioned_collapsing._is_partial_sql('_dbt_unset', columns) }} as is_late
    from (
      {{ versioned_collapsing.get_marks_without_versions_sql(options, columns) if options.delete_version == 'ignore' else versioned_collapsing.get_marks_sql(options, columns) }}
    )
  ) as marked
  group by {{ key }}
{%- endmacro %}


{# Marks each change; deletes are ordered among the upserts by version. `is_base` says whether what is left of
   the changes builds on the live row: no delete and no reset lies between. #}
{% macro get_marks_sql(options, columns) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  select
    *,
    countIf(_dbt_is_deleted) over (partition by {{ key }}) > 0 as has_delete,
    maxIf({{ version }}, _dbt_is_deleted) over (partition by {{ key }}) as dead_at,
    max({{ version }}) over (partition by {{ key }}) as highest,
    {{ versioned_collapsing._reset_marks_sql(options) }},
    not _dbt_is_deleted and not _dbt_is_tombstoned
      and not (has_reset and {{ version }} < reset_at)
      and not (has_delete and {{ version }} <= dead_at)
      and not (has_live and {{ version }} <= live_version) as is_after,
    {{ version }} = highest and _dbt_is_deleted = (has_delete and dead_at = highest) as is_last,
    _dbt_is_buried as is_buried,
    is_alive and not (has_delete and live_version <= dead_at) and not (has_reset and live_version < reset_at) as is_base
  from changed
{%- endmacro %}


{# With `delete_version: ignore` batches come in order: a batch that only deletes a key ends what was there
   before it, live row and upserts, up to the highest of their versions. #}
{% macro get_marks_without_versions_sql(options, columns) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  select
    *,
    has_delete and (has_live or has_before) as has_dead,
    greatest(if(has_live, live_version, before_version), if(has_before, before_version, live_version)) as dead_at,
    not _dbt_is_deleted and not _dbt_is_tombstoned
      and not (has_reset and {{ version }} < reset_at)
      and if(has_delete, _dbt_batch > deleted_in and not (has_dead and {{ version }} <= dead_at), not (has_live and {{ version }} <= live_version)) as is_after,
    if(has_delete, is_deleting, not _dbt_is_deleted and {{ version }} = highest) as is_last,
    _dbt_is_deleted and not has_dead as is_buried,
    is_alive and not has_delete and not (has_reset and live_version < reset_at) as is_base
  from (
    select
      *,
      countIf(is_before) over (partition by {{ key }}) > 0 as has_before,
      maxIf({{ version }}, is_before) over (partition by {{ key }}) as before_version
    from (
      select
        *,
        countIf(is_deleting) over (partition by {{ key }}) > 0 as has_delete,
        maxIf(_dbt_batch, is_deleting) over (partition by {{ key }}) as deleted_in,
        maxIf({{ version }}, not _dbt_is_deleted) over (partition by {{ key }}) as highest,
        {{ versioned_collapsing._reset_marks_sql(options) }},
        not _dbt_is_deleted and has_delete and _dbt_batch < deleted_in as is_before
      from (
        select *, min(_dbt_is_deleted) over (partition by {{ key }}, _dbt_batch) as is_deleting
        from changed
      )
    )
  )
{%- endmacro %}


{# A change with `_reset` does not build on what is below it. #}
{% macro _reset_marks_sql(options) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  countIf(_dbt_is_reset and not _dbt_is_deleted) over (partition by {{ key }}) > 0 as has_reset,
    maxIf({{ adapter.quote(options.version) }}, _dbt_is_reset and not _dbt_is_deleted) over (partition by {{ key }}) as reset_at
{%- endmacro %}


{% macro _fold_column_sql(name, options) -%}
  {%- set column = 'marked.' ~ adapter.quote(name) -%}
  {%- set version = 'marked.' ~ adapter.quote(options.version) -%}
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
  is_taken and not has(marked._dbt_unset, '{{ name }}')
{%- endmacro %}


{# Whether a change leaves columns as they are stored, apart from those that the model has no more. #}
{% macro _is_partial_sql(unset, columns) -%}
  arrayExists(name -> name not in ('', '{{ columns.absent | join("', '") }}'), {{ unset }})
{%- endmacro %}
