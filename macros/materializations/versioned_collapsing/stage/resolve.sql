{# Replaces the staged changes by what they come to, given the uncollapsed rows: one change a key, upserts combined
   with the live row, deletes without a version at that of the live row. It happens before anything is written:
   a run that dies later is completed from the result, when the live row may be gone already. #}
{% macro resolve_changes(target_relation, options, columns, truncated_at, uncollapsed, apply) %}
  {%- set changes = versioned_collapsing.get_helper_relation(target_relation, 'changes') -%}
  {%- set resolved = versioned_collapsing.get_helper_relation(target_relation, 'resolved') -%}
  {%- do versioned_collapsing.drop_staged(target_relation, ['resolved']) -%}
  {% call statement('create_resolved_changes') -%}
    create table {{ resolved }} as {{ changes }} {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
  {% call statement('resolve_changes') -%}
    {{ versioned_collapsing.get_resolve_changes_sql(
        target_relation, options, columns, truncated_at, uncollapsed, apply
    ) }}
  {%- endcall %}
  {%- do run_query('exchange tables ' ~ resolved ~ ' and ' ~ changes) -%}
  {%- do run_query('drop table ' ~ resolved) -%}
{% endmacro %}


{# A live row at or below a truncate is as good as deleted: no change above it builds on it. #}
{% macro get_resolve_changes_sql(target_relation, options, columns, truncated_at, uncollapsed, apply) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  insert into {{ versioned_collapsing.get_helper_relation(target_relation, 'resolved') }} (
    {{ get_quoted_csv(options.unique_key + columns.payload + [options.version]) }},
    _dbt_unset, _dbt_is_deleted, _dbt_is_tombstoned, _dbt_is_buried, _dbt_unmerged
  )
  with _dbt_live as (
    {{ versioned_collapsing._get_live_rows_sql(target_relation, options, columns, uncollapsed) }}
  ),
  _dbt_changed as (
    select
      _dbt_changes.*,
      _dbt_live._dbt_is_live as _dbt_has_live,
      _dbt_live._dbt_live_version as _dbt_live_version,
      _dbt_has_live{{ ' and _dbt_live_version > ' ~ truncated_at if truncated_at }} as _dbt_is_alive
    from {{ versioned_collapsing.get_helper_relation(target_relation, 'changes') }} as _dbt_changes
    left any join (select {{ key }}, {{ version }} as _dbt_live_version, true as _dbt_is_live
        from _dbt_live) as _dbt_live
      on {{ versioned_collapsing.get_keys_equal_sql('_dbt_changes', '_dbt_live', options.unique_key) }}
  ),
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
    _dbt_folded.{{ version }},
    _dbt_folded._dbt_folded_unset,
    _dbt_folded._dbt_folded_is_deleted,
    _dbt_folded._dbt_folded_is_tombstoned,
    _dbt_folded._dbt_folded_is_buried,
    _dbt_folded._dbt_folded_unmerged
  from _dbt_folded
  left any join _dbt_live as _dbt_stored
    on {{ versioned_collapsing.get_keys_equal_sql('_dbt_folded', '_dbt_stored', options.unique_key) }}
  {{ versioned_collapsing.get_settings_sql(apply) }}
{%- endmacro %}


{# The live row of each staged key: of several uncollapsed states the one with the highest version. #}
{% macro _get_live_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  select {{ get_quoted_csv(columns.names) }}
  from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
  where {{ adapter.quote(options.sign) }} = 1
  order by {{ key }}, {{ adapter.quote(options.version) }} desc
  limit 1 by {{ key }}
{%- endmacro %}
