{% macro remember_deletes(target_relation, options, uncollapsed, counts, apply) %}
  {%- if options.remember_deletes and counts.has_deletes -%}
    {% call statement('remember_deletes') -%}
      {{ versioned_collapsing.get_remember_deletes_sql(target_relation, options, uncollapsed, apply) }}
    {%- endcall %}
  {%- endif -%}
{% endmacro %}


{# Remembers the deletes that were applied: those that no newer live row outlives. It runs after the
   rows are written. The other way round, a run that died between the two would find its own
   tombstone above the delete, and the row would live for ever. #}
{% macro get_remember_deletes_sql(target_relation, options, uncollapsed, apply) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  insert into {{ versioned_collapsing.get_tombstones_relation(target_relation) }} ({{ key }}, {{ version }})
  select {{ key }}, _dbt_changes.{{ version }}
  from {{ versioned_collapsing.get_helper_relation(target_relation, 'changes') }} as _dbt_changes
  left join (
    select {{ key }}, max({{ version }}) as _dbt_live_version, 1 as _dbt_is_live
    from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
    where {{ adapter.quote(options.sign) }} = 1
    group by {{ key }}
  ) as _dbt_live using ({{ key }})
  where _dbt_changes._dbt_is_deleted
    and not _dbt_changes._dbt_is_tombstoned
    and not _dbt_changes._dbt_is_buried
    and (_dbt_live._dbt_is_live = 0 or _dbt_changes.{{ version }} >= _dbt_live._dbt_live_version)
  {{ versioned_collapsing.get_settings_sql(apply) }}
{%- endmacro %}
