{# Projections that the model has and the table has not are added, and built for the rows that are there. #}
{% macro add_missing_projections(target, run) %}
  {%- set wanted = config.get('projections', default=[]) -%}
  {%- if not wanted -%}{%- do return(none) -%}{%- endif -%}
  {%- set found = run_query(
      "select name from system.projections where " ~ versioned_collapsing.get_is_table_sql(target, 'table')
        ~ ' ' ~ versioned_collapsing.get_settings_sql()
  ).rows | map(attribute='name') | list -%}
  {%- for projection in wanted if projection.get('name') not in found -%}
    {%- do log('Adding the projection ' ~ projection.get('name') ~ ' to ' ~ target, info=true) -%}
    {%- do run_query("alter table " ~ target ~ " modify setting deduplicate_merge_projection_mode = 'rebuild'") -%}
    {%- do run_query('alter table ' ~ target ~ ' add ' ~ clickhouse_projection_ddl(projection)) -%}
    {%- do run_query(
        'alter table ' ~ target ~ ' materialize projection ' ~ projection.get('name') ~ ' '
        ~ versioned_collapsing.get_settings_sql(run, {'mutations_sync': 1})
    ) -%}
  {%- endfor -%}
{% endmacro %}
