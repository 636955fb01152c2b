{# In place of one of dbt's, by `dispatch` in dbt_project.yml; on Spark only. #}
{% macro spark__type_string() %}{{ return('varchar(9)') }}{% endmacro %}
