{# A stream that no change set has cut into batches is not known again. #}
{% macro warn_of_a_stream_without_batches(target_relation, apply) %}
  {%- if not apply.has_manifest -%}
    {%- do exceptions.warn(
        target_relation ~ ": with `old_state: stream` a select that is of no change_set model is written as it is by "
        ~ "each run, rows that were written before too. Select from a change_set model, which leaves out what is "
        ~ "applied, or see to it that the select has new rows only."
    ) -%}
  {%- endif -%}
{% endmacro %}
