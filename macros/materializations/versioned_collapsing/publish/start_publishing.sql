{# From here on a run that dies is completed. What was counted so far goes with it. #}
{% macro start_publishing(target, run) %}
  {%- do versioned_collapsing.renew_lock(run) -%}
  {%- do run.update({'block': 0}) -%}
  {%- do versioned_collapsing.record_run(target, run, 'started', run.counts or {}) -%}
{% endmacro %}
