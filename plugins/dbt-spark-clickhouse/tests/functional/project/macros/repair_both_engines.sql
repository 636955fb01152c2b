{% macro repair_both_engines() %}
  {% do adapter.query_on('spark', 'create table ' ~ target.schema ~ '.repairs (id int) using parquet') %}
  {% do run_query('create table ' ~ target.schema ~ '.repairs (id Int32) engine = MergeTree order by id') %}
{% endmacro %}
