{% macro find_on_both_engines() %}
  {% for engine in ['spark', 'clickhouse'] %}
    {% for name in ['twin', 'spark_orders', 'ch_orders'] %}
      {% set found = adapter.get_relation(engine, target.schema, name) %}
      {% do log(engine ~ ' ' ~ name ~ ': ' ~ (found or 'none'), info=true) %}
    {% endfor %}
  {% endfor %}
{% endmacro %}
