{# How the statements of a run are known in system.processes and the query log. #}
{% macro get_log_comment(run_id) %}
  {%- do return('versioned_collapsing ' ~ run_id) -%}
{% endmacro %}
