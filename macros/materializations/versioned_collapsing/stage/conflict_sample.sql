{# Adds what the query finds to the run's sample of conflicts. #}
{% macro read_conflict_sample(query, run) %}
  {%- do run.update({'conflicts': (run.conflicts
      or []) + (run_query(query).rows | map(attribute='_dbt_conflict') | list)}) -%}
{% endmacro %}
