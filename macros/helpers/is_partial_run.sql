{# Whether dbt reads only a part of what it selects from: --empty, --sample. #}
{% macro is_partial_run() %}
  {%- do return(true if flags.EMPTY or flags.SAMPLE else false) -%}
{% endmacro %}
