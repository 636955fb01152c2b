{# A flag of the change set, or false if the change set lacks it. #}
{% macro _flag_sql(name, columns) %}
  {%- do return(
      'ifNull(toBool(_dbt_given.' ~ adapter.quote(name) ~ '), false)' if name in columns.given else 'false'
  ) -%}
{% endmacro %}


{# A count that the change set carries, or 0. #}
{% macro _count_sql(name, columns) %}
  {%- do return(
      'toUInt64(ifNull(_dbt_given.' ~ adapter.quote(name) ~ ', 0))' if name in columns.given else 'toUInt64(0)'
  ) -%}
{% endmacro %}
