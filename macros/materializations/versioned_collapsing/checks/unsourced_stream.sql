{# Without a change_set model there are no batches, so a run cannot recognize signed rows that an earlier run wrote. #}
{% macro warn_of_a_stream_without_batches(target_relation, apply) %}
  {%- if not apply.has_manifest -%}
    {%- do exceptions.warn(
        target_relation ~ ": the model does not select from a change_set model. With `old_state: stream`, each run "
        ~ "writes all rows that the model selects, including rows that earlier runs wrote. Select from a change_set "
        ~ "model, which leaves out applied batches, or make sure that the select returns only new rows."
    ) -%}
  {%- endif -%}
{% endmacro %}
