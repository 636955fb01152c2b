{# Raises one compiler error that lists all problems; does nothing when there are none. #}
{% macro raise_problems(unique_id, problems, materialization='versioned_collapsing') %}
  {%- if problems -%}
    {%- do exceptions.raise_compiler_error(
        unique_id ~ " cannot be built as " ~ materialization ~ ":\n  - " ~ problems | join("\n  - ")
    ) -%}
  {%- endif -%}
{% endmacro %}

{# Raises an error in an apply that may hold the lock, and gives up the lock first. #}
{% macro stop_run(apply, message) %}
  {%- do versioned_collapsing.give_up_lock(apply) -%}
  {%- do exceptions.raise_compiler_error(message) -%}
{% endmacro %}
