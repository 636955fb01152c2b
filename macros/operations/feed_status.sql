{# Prints the lines about the change feed of a table, and about the views that are maintained from it. #}
{% macro log_feed_status(table, node, options) %}
  {%- set feed = versioned_collapsing.get_change_feed(table, options, node) -%}
  {%- if feed and versioned_collapsing.read_feed_columns(table, feed.relation).feed -%}
    {%- set found = run_query(versioned_collapsing.get_feed_status_sql(feed.relation)).rows[0] -%}
    {%- do log(
        '  change feed ' ~ feed.relation.identifier ~ ': ' ~ versioned_collapsing.format_count(found['n'], 'row')
        ~ (' of applies ' ~ found['_dbt_first'] ~ ' to ' ~ found['_dbt_last'] if found['n'] | int else ''), info=true
    ) -%}
  {%- endif -%}
  {%- for view in versioned_collapsing.get_dependents(node)
      if view.config.materialized == 'versioned_collapsing_view' -%}
    {%- set found = run_query(versioned_collapsing.get_view_status_sql(table, view)).rows[0] -%}
    {%- do log(
        '  view ' ~ view.name ~ ': ' ~ versioned_collapsing._get_view_status(view, found), info=true
    ) -%}
  {%- endfor -%}
{% endmacro %}


{% macro get_feed_status_sql(feed_relation) -%}
  select count() as n, min(_apply) as _dbt_first, max(_apply) as _dbt_last
  from {{ feed_relation }}
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{# The last apply to a table, and the last apply that the table in the view's place has used. #}
{% macro get_view_status_sql(table, view) -%}
  {%- set uuid = versioned_collapsing.get_table_uuid_sql(table) -%}
  {%- set relation = api.Relation.create(schema=view.schema, identifier=view.alias) -%}
  {%- set is_of_view -%}
    status = 'filled'
      and target_uuid = {{ versioned_collapsing.get_table_uuid_sql(relation) }}
      and source_uuid = {{ uuid }}
  {%- endset -%}
  select
    maxIf(apply, target_uuid = {{ uuid }}) as last,
    countIf({{ is_of_view }}) as fills,
    maxIf(apply, {{ is_of_view }}) as used
  from {{ versioned_collapsing.get_ledger_relation(table) }}
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{% macro _get_view_status(view, found) %}
  {%- set command = 'dbt run --select ' ~ versioned_collapsing.get_selector(view) -%}
  {%- if not found['fills'] | int -%}
    {%- do return('not filled from this table (' ~ command ~ ')') -%}
  {%- elif found['used'] | int < found['last'] | int -%}
    {%- do return('has used apply ' ~ found['used'] ~ ' of ' ~ found['last'] ~ ' (' ~ command ~ ')') -%}
  {%- endif -%}
  {%- do return('up to date') -%}
{% endmacro %}
