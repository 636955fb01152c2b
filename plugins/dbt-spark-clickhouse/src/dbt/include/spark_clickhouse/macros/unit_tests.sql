{# Spark is not asked again what came of the same SQL and the same expectation, while what it read is the same. #}
{% materialization unit, adapter='spark' %}
  {%- set question = [
      sql, config.get('expected_rows'), config.get('expected_sql'), config.get('sql_header')
  ] | string -%}
  {%- set outcome = adapter.outcome_of_unit_test(question) -%}
  {% if outcome is none %}
    {{ return(dbt.materialization_unit_default()) }}
  {% endif %}
  {% do store_raw_result(
      'main', message='passed before, and nothing has changed since: Spark was not asked', code='OK',
      rows_affected=none, agate_table=outcome
  ) %}
  {{ return({'relations': []}) }}
{% endmaterialization %}
