{# ClickHouse keeps `interval 30 day` as toIntervalDay(30). #}
{% macro _adapt_tombstones_ttl(tombstones, options, engine_full) %}
  {%- set alter = 'alter table ' ~ tombstones ~ ' ' ~ on_cluster_clause(tombstones) -%}
  {%- if options.remember_deletes is boolean -%}
    {%- if ' TTL ' in engine_full -%}
      {%- do run_query(alter ~ ' remove ttl') -%}
    {%- endif -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set interval = versioned_collapsing.get_interval_sql(options.remember_deletes) -%}
  {%- set parts = interval.split(' ') -%}
  {%- if ('toInterval' ~ parts[2] | capitalize ~ '(' ~ parts[1] | int ~ ')') not in engine_full -%}
    {%- do run_query(alter ~ ' modify ttl _remembered_at + ' ~ interval) -%}
  {%- endif -%}
{% endmacro %}
