{# Whether the changes of a key are more than candidates of which the highest is taken. #}
{% macro needs_fold(options, columns) %}
  {%- do return(options.combine != {} or versioned_collapsing.has_unset(columns) or options.delete_version == 'ignore') -%}
{% endmacro %}


{# Whether changes leave columns as they are stored: those that they name, or that the model has no more. #}
{% macro has_unset(columns) %}
  {%- do return('_unset' in columns.given or columns.absent != []) -%}
{% endmacro %}


{# Folds the changes of each key into one. What counts are the upserts after the last delete: above its
   version, or with `delete_version: ignore` in later batches. Of each column they are combined as the
   policy says. `_dbt_is_reset` says that a delete lies below, `_dbt_floor` which version was the
   highest before it. #}
{% macro get_fold_sql(options, columns, sql, run) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set is_partial = versioned_collapsing.has_unset(columns) -%}
  select
    {{ key }},
    {%- for name in columns.payload %}
    {{ versioned_collapsing._fold_column_sql(name, options, is_partial) }} as {{ adapter.quote(name) }},
    {%- endfor %}
    if(countIf(is_after) = 0, max(deleted_at), maxIf(change.{{ version }}, is_after)) as {{ version }},
    countIf(is_after) = 0 as _dbt_is_deleted,
    {%- if is_partial %}
    arrayFilter(name -> name <> '', [
      {%- for name in columns.payload %}if(countIf({{ versioned_collapsing._is_set_sql(name, is_partial) }}) = 0, '{{ name }}', ''){{ ', ' if not loop.last }}{% endfor -%}
    ]) as _dbt_unset,
    {%- else %}
    [] as _dbt_unset,
    {%- endif %}
    not _dbt_is_deleted and (max(has_delete) or argMaxIf(change._dbt_is_reset, change.{{ version }}, is_after)) as _dbt_is_reset,
    {%- if options.delete_version == 'ignore' %}
    if(countIf(not is_after and not change._dbt_is_deleted) = 0, null, maxIf(change.{{ version }}, not is_after and not change._dbt_is_deleted)) as _dbt_floor,
    {%- else %}
    null as _dbt_floor,
    {%- endif %}
    sum(change._dbt_duplicates) as _dbt_duplicates,
    sum(change._dbt_conflicts) as _dbt_conflicts,
    max(change._dbt_problem) as _dbt_problem
  from (
    {{ versioned_collapsing.get_marked_changes_sql(options, columns, sql, run) }}
  ) as change
  group by {{ key }}
{%- endmacro %}


{# Each change of the change set, and whether it comes after the last delete of its key. #}
{% macro get_marked_changes_sql(options, columns, sql, run) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set cast_changes = versioned_collapsing.get_cast_changes_sql(options, columns, sql, run) -%}
  {%- if options.delete_version == 'ignore' %}
  {%- set batch = '_dbt_batch' if '_batch' in columns.given else '0' %}
  select
    *,
    countIf(is_deleting_batch) over (partition by {{ key }}) > 0 as has_delete,
    maxIf({{ batch }}, is_deleting_batch) over (partition by {{ key }}) as deleted_in,
    {{ version }} as deleted_at,
    not _dbt_is_deleted and (not has_delete or {{ batch }} > deleted_in) as is_after
  from (
    select *, min(_dbt_is_deleted) over (partition by {{ key }}, {{ batch }}) as is_deleting_batch
    from ({{ cast_changes }})
  )
  {%- else %}
  select
    *,
    countIf(_dbt_is_deleted) over (partition by {{ key }}) > 0 as has_delete,
    maxIf({{ version }}, _dbt_is_deleted) over (partition by {{ key }}) as deleted_at,
    not _dbt_is_deleted and (not has_delete or {{ version }} > deleted_at) as is_after
  from ({{ cast_changes }})
  {%- endif %}
{%- endmacro %}


{% macro _fold_column_sql(name, options, is_partial) -%}
  {%- set column = 'change.' ~ adapter.quote(name) -%}
  {%- set version = 'change.' ~ adapter.quote(options.version) -%}
  {%- set is_set = versioned_collapsing._is_set_sql(name, is_partial) -%}
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


{% macro _is_set_sql(name, is_partial) -%}
  is_after{% if is_partial %} and not has(change._dbt_unset, '{{ name }}'){% endif %}
{%- endmacro %}
