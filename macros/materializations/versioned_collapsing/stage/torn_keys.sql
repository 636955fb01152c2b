{# Stages the torn keys, whose uncollapsed rows are not exactly one state row: a run died, or another writer left them
   so. #}
{% macro stage_torn_keys(target_relation, options, uncollapsed, apply) %}
  {%- set torn = versioned_collapsing.get_helper_relation(target_relation, 'torn') -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {% call statement('stage_torn_keys') -%}
    insert into {{ torn }} ({{ key }})
    select {{ key }}
    from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
    group by {{ key }}
    having count() > 1 or min({{ adapter.quote(options.sign) }}) < 0
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endcall %}
{% endmacro %}
