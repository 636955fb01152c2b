{# A run that has lost its lock must not write: another one is at it. #}
{% macro validate_lock_is_held(holder, run, lock_seconds) %}
  {%- if not versioned_collapsing.is_held_by(holder, run.lock.run_id) -%}
    {%- do exceptions.raise_compiler_error(
        "This run showed no sign of life for " ~ lock_seconds ~ " s and lost its lock " ~ run.lock.relation
        ~ ". What it had begun is completed by the next run."
    ) -%}
  {%- endif -%}
{% endmacro %}
