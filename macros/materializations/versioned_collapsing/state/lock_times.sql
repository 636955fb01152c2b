{# For how many seconds a run waits for the others of its own dbt invocation. #}
{% macro get_lock_patience() %}
  {%- do return(86400) -%}
{% endmacro %}


{# For how long a run may show no sign of life before another one takes its lock. A statement that runs is a
   sign of life, however long it takes. #}
{% macro get_lock_seconds() %}
  {%- do return(var('versioned_collapsing_lock_seconds', 60) | int) -%}
{% endmacro %}
