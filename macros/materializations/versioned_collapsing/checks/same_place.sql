{# Stops the run if the table was built or dropped after this run looked for it and before it took the lock. #}
{% macro validate_same_place(this, existing_relation, found, apply) %}
  {%- if (found is none) != (existing_relation is none) -%}
    {%- do versioned_collapsing.stop_run(apply,
        this ~ (' was built' if existing_relation is none else ' was dropped')
        ~ ' while this run waited for its lock. Run again.'
    ) -%}
  {%- endif -%}
{% endmacro %}
