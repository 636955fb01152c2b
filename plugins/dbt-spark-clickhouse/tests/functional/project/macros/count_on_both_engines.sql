{% macro count_on_both_engines() %}
  {% set count = 'select count(*) from ' %}
  {% set here = run_query(count ~ 'mixed.ch_orders')[0][0] %}
  {% set there = adapter.query_on('spark', count ~ 'mixed.spark_orders')[0][0] %}
  {% set handed_off = run_query(count ~ adapter.hand_off('mixed', 'spark_orders'))[0][0] %}
  {% do log(target.type ~ ' has ' ~ here ~ ', spark ' ~ there ~ ', handed off ' ~ handed_off, info=true) %}
{% endmacro %}
