{# Replaces the staged changes with their result, given the uncollapsed rows: one change per key, upserts combined with
   the live row, and deletes without a version at that of the live row. It does so before anything is published: a run
   that dies later is completed from this result, when the live row may already be gone. The results of several chunks
   are gathered in one table. #}
{% macro resolve_changes(target_relation, options, columns, truncated_at, uncollapsed, is_filled, apply) %}
  {%- set changes = versioned_collapsing.get_helper_relation(target_relation, 'changes') -%}
  {%- set resolved = versioned_collapsing.get_helper_relation(target_relation, 'resolved') -%}
  {%- do versioned_collapsing.prepare_staged_table(
      resolved, versioned_collapsing.get_create_staged_changes_sql(resolved, options, columns), apply, is_filled
  ) -%}
  {% call statement('resolve_changes') -%}
    {{ versioned_collapsing.get_resolve_changes_sql(
        target_relation, options, columns, truncated_at, uncollapsed, apply
    ) }}
  {%- endcall %}
  {%- do run_query('exchange tables ' ~ resolved ~ ' and ' ~ changes) -%}
  {%- if options.chunks > 1 -%}
    {%- set gathered = versioned_collapsing.get_helper_relation(target_relation, 'resolved_set') -%}
    {% call statement('gather_resolved_changes') -%}
      insert into {{ gathered }} select * from {{ changes }} {{ versioned_collapsing.get_settings_sql(apply) }}
    {%- endcall %}
  {%- endif -%}
{% endmacro %}


{# Step by step: the live rows, the changes beside them, the flags that say which changes count, one change per key, and
   this change combined with the live row. #}
{% macro get_resolve_changes_sql(target_relation, options, columns, truncated_at, uncollapsed, apply) -%}
  {%- set changes = versioned_collapsing.get_helper_relation(target_relation, 'changes') -%}
  insert into {{ versioned_collapsing.get_helper_relation(target_relation, 'resolved') }} (
    {{ get_quoted_csv(options.unique_key + columns.payload + [options.version]) }},
    _dbt_unset, _dbt_is_deleted, _dbt_is_tombstoned, _dbt_is_buried, _dbt_unmerged
  )
  with _dbt_live as (
    {{ versioned_collapsing._get_live_rows_sql(target_relation, options, columns, uncollapsed) }}
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
    _dbt_folded._dbt_folded_is_buried,
    _dbt_folded._dbt_folded_unmerged
  from _dbt_folded
  left any join _dbt_live as _dbt_stored
    on {{ versioned_collapsing.get_keys_equal_sql('_dbt_folded', '_dbt_stored', options.unique_key) }}
  {{ versioned_collapsing.get_settings_sql(apply) }}
{%- endmacro %}
