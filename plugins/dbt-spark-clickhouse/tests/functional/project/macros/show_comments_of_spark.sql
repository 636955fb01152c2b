{% macro show_comments_of_spark() %}
  {% for relation in ['spark_orders', 'spark_orders_view'] %}
    {% for row in adapter.query_on('spark', 'describe table extended ' ~ target.schema ~ '.' ~ relation) %}
      {% do log(relation ~ ': ' ~ row.values() | join(' | '), info=true) %}
    {% endfor %}
  {% endfor %}
{% endmacro %}
