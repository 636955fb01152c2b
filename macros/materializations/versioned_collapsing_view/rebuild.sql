{# Fills a table beside the old one and puts it in its place. The ledger's row comes last: without it the next
   run begins anew. Nobody writes to the source meanwhile, and what a run left half-written there is
   completed first, without the view. #}
{% macro rebuild_view(this, existing, source, options, run, sql) %}
  {%- set build = versioned_collapsing.get_helper_relation(this, 'build') -%}
  {%- set trigger = versioned_collapsing.get_trigger_relation(this) -%}
  {%- do run_query('drop view if exists ' ~ trigger) -%}
  {%- do versioned_collapsing.complete_source(source, options.source, run) -%}
  {%- do run_query('drop table if exists ' ~ build) -%}
  {% call statement('create_view_table') -%}
    create table {{ build }} {{ on_cluster_clause(build) }}
    engine = {{ options.engine }}
    {%- if options.partition_by %}
    partition by ({{ options.partition_by | join(', ') }})
    {%- endif %}
    order by ({{ options.order_by | join(', ') }})
    settings {{ versioned_collapsing.get_settings_list_sql(versioned_collapsing.get_view_settings(options.settings)) }}
    empty as select * from {{ versioned_collapsing.get_subquery_sql(sql) }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
  {% call statement('fill_view') -%}
    insert into {{ build }}
    select *
    from {{ versioned_collapsing.get_subquery_sql(sql) }}
    {{ versioned_collapsing.get_settings_sql(run, {'max_partitions_per_insert_block': 0}) }}
  {%- endcall %}
  {%- if existing is none -%}
    {%- do run_query('rename table ' ~ build ~ ' to ' ~ this) -%}
  {%- else -%}
    {%- do run_query('exchange tables ' ~ build ~ ' and ' ~ this) -%}
    {%- do run_query('drop table ' ~ build) -%}
  {%- endif -%}
  {%- do run_query('create materialized view ' ~ trigger ~ ' to ' ~ this ~ ' as ' ~ sql) -%}
  {%- if not versioned_collapsing.is_triggered(source, trigger) -%}
    {%- do run_query('drop view ' ~ trigger) -%}
    {%- do versioned_collapsing.stop_run(run,
        this ~ " would not follow " ~ source ~ ": a materialized view sees the rows of the table that its select "
        ~ "reads first. Begin with "
        ~ source.identifier ~ ", and join the others to it."
    ) -%}
  {%- endif -%}
  {%- do run.update({'source': source, 'definition': options.definition}) -%}
  {%- do versioned_collapsing.record_run(this, run, 'filled', {}) -%}
{% endmacro %}


{# A window lets an insert into the source be repeated: the view's table knows the blocks that it has. #}
{% macro get_view_settings(settings) %}
  {%- set all = {'non_replicated_deduplication_window': versioned_collapsing.get_deduplication_window()} -%}
  {%- do all.update(settings) -%}
  {%- do return(all) -%}
{% endmacro %}
