{# Replaces the staged changes by what they come to, given the leftovers: upserts combined with the live row,
   deletes without a version at that of the live row. It happens before anything is written: a run that
   dies later is completed from the result, when the live row may be gone already. #}
{% macro resolve_changes(target, options, columns, run) %}
  {%- set changes = versioned_collapsing._beside(target, 'changes') -%}
  {%- set resolved = versioned_collapsing._beside(target, 'resolved') -%}
  {%- do run_query('drop table if exists ' ~ resolved) -%}
  {% call statement('create_resolved_changes') -%}
    create table {{ resolved }} as {{ changes }}
  {%- endcall %}
  {% call statement('resolve_changes') -%}
    {{ versioned_collapsing.get_resolve_changes_sql(target, options, columns, run) }}
  {%- endcall %}
  {%- do run_query('exchange tables ' ~ resolved ~ ' and ' ~ changes) -%}
  {%- do run_query('drop table ' ~ resolved) -%}
{% endmacro %}


{% macro get_resolve_changes_sql(target, options, columns, run) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set sign = adapter.quote(options.sign) -%}
  {%- set ignores_version = options.delete_version == 'ignore' -%}
  insert into {{ versioned_collapsing._beside(target, 'resolved') }} (
    {{ get_quoted_csv(options.unique_key + columns.payload + [options.version]) }},
    _dbt_unset, _dbt_is_reset, _dbt_floor, _dbt_is_deleted, _dbt_is_tombstoned, _dbt_is_buried, _dbt_duplicates, _dbt_conflicts, _dbt_problem
  )
  select
    {%- for name in options.unique_key %}
    changed.{{ adapter.quote(name) }},
    {%- endfor %}
    {%- for name in columns.payload %}
    {{ versioned_collapsing.get_resolved_column_sql(name, options, columns) }},
    {%- endfor %}
    {%- if ignores_version %}
    if(
      (
        changed._dbt_is_deleted
        or (
          changed._dbt_is_reset
          and ifNull(
            changed.{{ version }} <= (
              if(stored.{{ sign }} = 1, greatest(stored.{{ version }}, ifNull(changed._dbt_floor, stored.{{ version }})), changed._dbt_floor) as _dbt_dead_below
            ),
            false
          )
        )
      ) as _dbt_deletes,
      ifNull(_dbt_dead_below, changed.{{ version }}),
      changed.{{ version }}
    ),
    changed._dbt_unset,
    changed._dbt_is_reset,
    changed._dbt_floor,
    _dbt_deletes,
    changed._dbt_is_tombstoned,
    _dbt_deletes and _dbt_dead_below is null,
    {%- else %}
    changed.{{ version }},
    changed._dbt_unset,
    changed._dbt_is_reset,
    changed._dbt_floor,
    changed._dbt_is_deleted,
    changed._dbt_is_tombstoned,
    changed._dbt_is_buried,
    {%- endif %}
    changed._dbt_duplicates,
    changed._dbt_conflicts,
    changed._dbt_problem
  from {{ versioned_collapsing._beside(target, 'changes') }} as changed
  left any join ({{ versioned_collapsing.get_live_rows_sql(target, options, columns) }}) as stored
    on {{ versioned_collapsing._keys_equal('changed', 'stored', options.unique_key) }}
  settings join_use_nulls = 0, {{ versioned_collapsing.get_log_comment_setting(run) }}
{%- endmacro %}


{# The live row of each staged key: of several leftover states the one with the highest version. #}
{% macro get_live_rows_sql(target, options, columns) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  select {{ get_quoted_csv(columns.names + [options.sign]) }}
  from {{ versioned_collapsing._beside(target, 'leftovers') }}
  where {{ adapter.quote(options.sign) }} = 1
  order by {{ key }}, {{ adapter.quote(options.version) }} desc
  limit 1 by {{ key }}
{%- endmacro %}


{# A column of a change, combined with that of the live row. #}
{% macro get_resolved_column_sql(name, options, columns) -%}
  {%- set changed = 'changed.' ~ adapter.quote(name) -%}
  {%- set stored = 'stored.' ~ adapter.quote(name) -%}
  {%- set combined = {
      'latest': changed,
      'coalesce': 'if(isNull(' ~ changed ~ '), ' ~ stored ~ ', ' ~ changed ~ ')',
      'first': 'if(isNull(' ~ stored ~ '), ' ~ changed ~ ', ' ~ stored ~ ')',
      'greatest': 'if(isNull(' ~ changed ~ ') or ' ~ stored ~ ' > ' ~ changed ~ ', ' ~ stored ~ ', ' ~ changed ~ ')',
      'least': 'if(isNull(' ~ changed ~ ') or ' ~ stored ~ ' < ' ~ changed ~ ', ' ~ stored ~ ', ' ~ changed ~ ')',
  }[options.combine.get(name, 'latest')] -%}
  if(
    stored.{{ adapter.quote(options.sign) }} = 1 and not changed._dbt_is_deleted and not changed._dbt_is_reset,
    {% if versioned_collapsing.has_unset(columns) %}if(has(changed._dbt_unset, '{{ name }}'), {{ stored }}, {{ combined }}){% else %}{{ combined }}{% endif %},
    {{ changed }}
  )
{%- endmacro %}
