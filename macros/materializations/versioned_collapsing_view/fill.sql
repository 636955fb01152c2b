{# Makes a table with what the select returns now. #}
{% macro fill_view(build, options, apply, sql) %}
  {%- do run_query('drop table if exists ' ~ build) -%}
  {% call statement('create_view_table') -%}
    {{ versioned_collapsing.get_create_view_table_sql(build, options, sql) }}
  {%- endcall %}
  {% call statement('fill_view') -%}
    insert into {{ build }}
    select *
    from {{ versioned_collapsing.get_subquery_sql(sql) }}
    {{ versioned_collapsing.get_settings_sql(apply, {'max_partitions_per_insert_block': 0}) }}
  {%- endcall %}
{% endmacro %}


{# A window lets an insert into the source be repeated: the view's table knows the blocks that it has. #}
{% macro get_create_view_table_sql(build, options, sql) -%}
  {%- set window = {'non_replicated_deduplication_window': versioned_collapsing.get_deduplication_window()} -%}
  create table {{ build }} {{ on_cluster_clause(build) }}
  engine = {{ options.engine }}
  {%- if options.partition_by %}
  partition by ({{ options.partition_by | join(', ') }})
  {%- endif %}
  order by ({{ options.order_by | join(', ') }})
  settings {{ versioned_collapsing.get_settings_list_sql(dict(window, **options.settings)) }}
  empty as select * from {{ versioned_collapsing.get_subquery_sql(sql) }}
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}
