{% macro read_conflict_sample(query) %}
  {%- do return(run_query(query).rows | map(attribute='_dbt_conflict') | list) -%}
{% endmacro %}
