{# Adds the rows to write to the staged table `signed`, and the deletes to remember to the staged table `deletes`. #}
{% macro stage_rows_to_write(target_relation, options, columns, uncollapsed, counts, apply) %}
  {%- set rows = versioned_collapsing.get_publish_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {% call statement('stage_rows_to_write') -%}
    {{ versioned_collapsing.get_stage_rows_sql(target_relation, options, columns, rows, apply) }}
  {%- endcall %}
  {%- if counts.repaired -%}
    {%- set rows = versioned_collapsing.get_heal_rows_sql(target_relation, options, columns, uncollapsed) -%}
    {% call statement('stage_healing_rows') -%}
      {{ versioned_collapsing.get_stage_rows_sql(target_relation, options, columns, rows, apply) }}
    {%- endcall %}
  {%- endif -%}
  {%- if options.remember_deletes and counts.has_deletes -%}
    {% call statement('stage_deletes') -%}
      {{ versioned_collapsing.get_stage_deletes_sql(target_relation, options, uncollapsed, apply) }}
    {%- endcall %}
  {%- endif -%}
{% endmacro %}


{# The deletes that are applied: those whose key has no newer live row. #}
{% macro get_stage_deletes_sql(target_relation, options, uncollapsed, apply) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  insert into {{ versioned_collapsing.get_helper_relation(target_relation, 'deletes') }} ({{ key }}, {{ version }})
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
