{# A statement of ClickHouse's that also has Spark do something: hooks run on the default engine. #}
{% macro log_run_on_both(command) %}
  {% if execute and command == 'build' %}
    {% do adapter.query_on('spark', 'create table if not exists ' ~ target.schema ~ '.spark_runs using parquet as select \'' ~ command ~ '\' as command') %}
  {% endif %}
  insert into {{ target.schema }}.runs values ('{{ command }}', 'end on {{ target.type }}')
{% endmacro %}
