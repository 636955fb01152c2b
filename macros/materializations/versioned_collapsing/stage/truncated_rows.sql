{# Deletes of every live row at or below the version at which the table was truncated, unless a change above
   it is staged already. #}
{% macro get_stage_truncate_sql(target_relation, staged, options, truncated_at, apply) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  insert into {{ staged }} ({{ key }}, {{ adapter.quote(options.version) }}, _dbt_is_deleted)
  select distinct {{ key }}, {{ truncated_at }} as _dbt_truncated_at, true as _dbt_goes
  from {{ target_relation }} final
  where {{ adapter.quote(options.sign) }} = 1
    and {{ adapter.quote(options.version) }} <= {{ truncated_at }}
    and ({{ key }}) not in (select {{ key }} from {{ staged }})
  {{ versioned_collapsing.get_settings_sql(apply, {'do_not_merge_across_partitions_select_final': 1}) }}
{%- endmacro %}
