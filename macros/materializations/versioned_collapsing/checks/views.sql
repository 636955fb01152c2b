{# It is harmless to repeat a block for views that existed when the run began to write. A view that was created or
   altered since then would receive rows that it already has. #}
{% macro validate_views_are_unchanged(target_relation, unfinished, changed, apply) %}
  {%- if changed -%}
    {%- do versioned_collapsing.stop_run(apply,
        "Run " ~ unfinished.run_id ~ " was interrupted while it published rows to " ~ target_relation ~ ". "
        ~ ("This materialized view was" if changed | length == 1 else "These materialized views were")
        ~ " created or changed since then: " ~ changed | join(', ') ~ ". Completing the run would write rows twice "
        ~ "into " ~ ("it. Drop it, run again, and build it again." if changed | length == 1
        else "them. Drop them, run again, and build them again.")
    ) -%}
  {%- endif -%}
{% endmacro %}


{# Attached parts do not pass through a materialized view, which would miss them. #}
{% macro validate_can_attach(target_relation, unfed, apply) %}
  {%- if unfed -%}
    {%- do versioned_collapsing.stop_run(apply,
        "publish is 'atomic', but materialized views read " ~ target_relation ~ ": "
        ~ unfed | join(', ') ~ ". Atomic publication attaches parts, which views "
        ~ "do not see. Set publish: auto or publish: journal, or drop the views."
    ) -%}
  {%- endif -%}
{% endmacro %}
