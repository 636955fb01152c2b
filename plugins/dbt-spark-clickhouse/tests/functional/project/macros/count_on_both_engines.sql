{% macro count_on_both_engines() %}
  {% set orders = 'select count(*) from mixed.' %}
  {% set here = run_query(orders ~ 'ch_orders')[0][0] %}
  {% set there = adapter.query_on('spark', orders ~ 'spark_orders')[0][0] %}
  {% do log(target.type ~ ' has ' ~ here ~ ', spark has ' ~ there, info=true) %}
{% endmacro %}
