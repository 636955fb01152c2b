{# ClickHouse keeps `interval 30 day` as toIntervalDay(30). #}
{% macro adapt_tombstones_ttl(tombstones, options) %}
  {%- set query = "select engine_full from system.tables where " ~ versioned_collapsing.get_is_table_sql(tombstones)
      ~ ' ' ~ versioned_collapsing.get_settings_sql() -%}
  {%- set engine = run_query(query).rows[0]['engine_full'] -%}
  {%- if options.remember_deletes is boolean -%}
    {%- if ' TTL ' in engine -%}
      {%- do run_query('alter table ' ~ tombstones ~ ' ' ~ on_cluster_clause(tombstones) ~ ' remove ttl') -%}
    {%- endif -%}
  {%- else -%}
    {%- set interval = versioned_collapsing.get_interval_sql(options.remember_deletes) -%}
    {%- set parts = interval.split(' ') -%}
    {%- if ('toInterval' ~ parts[2] | capitalize ~ '(' ~ parts[1] | int ~ ')') not in engine -%}
      {%- do run_query(
          'alter table ' ~ tombstones ~ ' ' ~ on_cluster_clause(tombstones) ~ ' modify ttl _remembered_at + ' ~ interval
      ) -%}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}
