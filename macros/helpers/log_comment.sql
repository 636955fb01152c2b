{# The comment that marks the statements of a run in system.processes and the query log. #}
{% macro get_log_comment(run_id) %}
  {%- do return('versioned_collapsing ' ~ run_id) -%}
{% endmacro %}
