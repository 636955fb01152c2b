{# While the project is parsed, no engine is at work, and Spark's macros are found before dbt's. The following ones of
   Spark raise or warn about things that ClickHouse can do, so dbt's are rendered instead. #}
{% macro spark_clickhouse__alter_relation_add_remove_columns(relation, add_columns, remove_columns) -%}
  {%- do default__alter_relation_add_remove_columns(relation, add_columns, remove_columns) -%}
{% endmacro %}


{% macro spark_clickhouse__dateadd(datepart, interval, from_date_or_timestamp) -%}
  {{ default__dateadd(datepart, interval, from_date_or_timestamp) }}
{%- endmacro %}


{% macro spark_clickhouse__datediff(first_date, second_date, datepart) -%}
  {{ default__datediff(first_date, second_date, datepart) }}
{%- endmacro %}


{% macro spark_clickhouse__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  {{ default__listagg(measure, delimiter_text, order_by_clause, limit_num) }}
{%- endmacro %}
