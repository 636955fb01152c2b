{# The table to apply to: the target itself or, if an existing target is rebuilt, a table beside it that takes its place
   at the end. #}
{% macro get_table_to_apply_to(this, existing_relation, is_rebuild) %}
  {%- set is_beside = is_rebuild and existing_relation is not none -%}
  {%- set target_relation = versioned_collapsing.get_helper_relation(this, 'build') if is_beside else this -%}
  {%- do return(target_relation.incorporate(type='table')) -%}
{% endmacro %}


{# Creates the table and its tombstones, empty. #}
{% macro create_versioned_collapsing_table(target_relation, options, columns) %}
  {%- set tombstones = versioned_collapsing.get_tombstones_relation(target_relation) -%}
  {%- do versioned_collapsing.drop_tables([target_relation, tombstones]) -%}
  {% call statement('create_target') -%}
    {{ versioned_collapsing.get_create_versioned_collapsing_table_sql(target_relation, options, columns) }}
  {%- endcall %}
  {%- do versioned_collapsing._add_indexes_and_projections(target_relation, options) -%}
  {%- do versioned_collapsing.prepare_tombstones(target_relation, options, columns, none) -%}
{% endmacro %}


{% macro get_create_versioned_collapsing_table_sql(target_relation, options, columns) -%}
  create table {{ target_relation }} {{ on_cluster_clause(target_relation) }} (
    {%- for column in columns.table %}
    {{ adapter.quote(column.name) }} {{ column.type }},
    {%- endfor %}
    {{ adapter.quote(options.sign) }} Int8
  )
  engine = {{ versioned_collapsing.get_engine_name(target_relation, 'VersionedCollapsingMergeTree') }}(
    {{- adapter.quote(options.sign) }}, {{ adapter.quote(options.version) }})
  {%- if options.partition_by %}
  partition by ({{ versioned_collapsing.get_expressions_sql(options.partition_by, columns) }})
  {%- endif %}
  {%- if options.primary_key %}
  primary key ({{ versioned_collapsing.get_expressions_sql(options.primary_key, columns) }})
  {%- endif %}
  order by ({{ versioned_collapsing.get_expressions_sql(options.order_by, columns) }})
  {%- if options.ttl %}
  ttl {{ options.ttl }}
  {%- endif %}
  {{ versioned_collapsing.get_settings_sql(more=versioned_collapsing._get_table_settings(options)) }}
  comment {{ versioned_collapsing.quote_literal(versioned_collapsing.get_table_comment()) }}
{%- endmacro %}


{# Tells a table that a run has made from one that somebody else has made. #}
{% macro get_table_comment() %}
  {%- do return('versioned_collapsing') -%}
{% endmacro %}


{# Adds all of them in one statement: a replica that lags behind refuses several statements. #}
{% macro _add_indexes_and_projections(target_relation, options) %}
  {%- set added = [] -%}
  {%- for projection in options.projections -%}
    {%- do added.append('add ' ~ clickhouse_projection_ddl(projection)) -%}
  {%- endfor -%}
  {%- for index in options.indexes -%}
    {%- do added.append('add index ' ~ index.get('name') ~ ' ' ~ index.get('definition')) -%}
  {%- endfor -%}
  {% if added %}
    {% call statement('add_projections_and_indexes') -%}
      alter table {{ target_relation }} {{ on_cluster_clause(target_relation) }} {{ added | join(', ') }}
    {%- endcall %}
  {% endif %}
{% endmacro %}


{# Table settings. The constraint refuses any sign but 1 and -1; without the projection mode
   ClickHouse refuses projections on a collapsing table. #}
{% macro _get_table_settings(options) %}
  {%- set all = {'add_implicit_sign_column_constraint_for_collapsing_engine': 1} -%}
  {%- if options.projections -%}
    {%- do all.update({'deduplicate_merge_projection_mode': 'rebuild'}) -%}
  {%- endif -%}
  {%- do all.update(options.settings) -%}
  {%- do return(all) -%}
{% endmacro %}


{# Whether a table was made by a first run that then failed: it is ours, it is empty, and nothing was applied to it. If
   the model has changed since, the table is made anew. #}
{% macro read_is_unused_table(existing_relation, found, model) %}
  {%- if found.target.comment != versioned_collapsing.get_table_comment()
      or versioned_collapsing.read_row_count(existing_relation) -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- set ledger = versioned_collapsing.read_ledger(existing_relation, model) -%}
  {%- do return(not ledger.has_history and not ledger.unfinished) -%}
{% endmacro %}
