{# Adds the projections that the model has and the table lacks, and builds them for the existing rows. #}
{% macro add_missing_projections(target_relation, options, apply) %}
  {%- if not options.projections -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set found = run_query(
      "select name from system.projections where " ~ versioned_collapsing.get_is_table_sql(target_relation, 'table')
        ~ ' ' ~ versioned_collapsing.get_settings_sql()
  ).rows | map(attribute='name') | list -%}
  {%- for projection in options.projections if projection.get('name') not in found -%}
    {%- do log('Adding the projection ' ~ projection.get('name') ~ ' to ' ~ target_relation, info=true) -%}
    {%- set alter = 'alter table ' ~ target_relation ~ ' ' ~ on_cluster_clause(target_relation) | trim -%}
    {%- do run_query(alter ~ " modify setting deduplicate_merge_projection_mode = 'rebuild'") -%}
    {%- do run_query(alter ~ ' add ' ~ clickhouse_projection_ddl(projection)) -%}
    {%- do run_query(
        alter ~ ' materialize projection ' ~ projection.get('name') ~ ' '
        ~ versioned_collapsing.get_settings_sql(apply, {'mutations_sync': 1})
    ) -%}
  {%- endfor -%}
{% endmacro %}
