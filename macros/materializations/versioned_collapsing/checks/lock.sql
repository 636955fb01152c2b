{# Stops if a run of another dbt invocation holds the lock and is at work. #}
{% macro validate_holder_is_idle(locked_relation, holder, is_at_work, model) %}
  {%- if is_at_work and holder.invocation_id != invocation_id -%}
    {%- do exceptions.raise_compiler_error(
        "Another run holds the lock on " ~ locked_relation ~ ": run " ~ holder.run_id ~ " of dbt invocation "
        ~ holder.invocation_id ~ ". Run again when it has ended. If that run no longer exists, release its lock: "
        ~ "dbt run-operation release_lock --args '{model: " ~ model ~ "}'"
    ) -%}
  {%- endif -%}
{% endmacro %}


{# Stops a run that has waited too long for other runs of its own invocation. #}
{% macro validate_lock_is_acquired(locked_relation, holder, apply, seconds) %}
  {%- if not versioned_collapsing.is_held_by(holder, apply.run_id) -%}
    {%- do exceptions.raise_compiler_error(
        "Other runs have held the lock on " ~ locked_relation ~ " for " ~ seconds
        ~ " s. Run again when they have ended."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# A run that has lost its lock must not write, because another run may be writing. #}
{% macro validate_lock_is_held(holder, apply, seconds) %}
  {%- if not versioned_collapsing.is_held_by(holder, apply.lock.run_id) -%}
    {%- do exceptions.raise_compiler_error(
        "This run no longer holds its lock " ~ apply.lock.relation ~ ": it made no progress for more than " ~ seconds
        ~ " s, or the lock was released. Run again: the next run completes what this run published."
    ) -%}
  {%- endif -%}
{% endmacro %}
