{% macro count_orders() %}
  {% set rows = run_query('select count(*) as n from ' ~ ref('ch_orders')) %}
  {% do log('orders on ' ~ target.type ~ ': ' ~ rows[0][0], info=true) %}
{% endmacro %}

{% macro ask_spark(sql) %}
  {% set rows = adapter.query_on('spark', sql) %}
  {% do log('Spark says: ' ~ rows[0][0], info=true) %}
{% endmacro %}
