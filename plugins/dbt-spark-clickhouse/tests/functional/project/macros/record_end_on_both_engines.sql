{# Hooks run on the default engine; query_on reaches the other one. #}
{% macro record_end_on_both_engines(command) %}
  {% if execute and command == 'build' %}
    {% do adapter.query_on('spark', 'create table if not exists ' ~ target.schema ~ '.builds (engine string) using parquet') %}
    {% do adapter.query_on('spark', 'insert into ' ~ target.schema ~ ".builds select 'spark'") %}
  {% endif %}
  insert into {{ target.schema }}.commands values ('{{ command }}', 'end on {{ target.type }}')
{% endmacro %}
