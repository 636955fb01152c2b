{# To repeat a block is harmless for views that were there when the run began to write. A view that is new, or
   was altered, would take in rows that it has got already. #}
{% macro validate_views_are_unchanged(target_relation, unfinished, views, apply) %}
  {%- set changed = [] -%}
  {%- for definition, view in views.definitions.items() if definition not in unfinished.definition.split(' ') -%}
    {%- do changed.append(view) -%}
  {%- endfor -%}
  {%- if changed -%}
    {%- do versioned_collapsing.stop_run(apply,
        "Run " ~ unfinished.run_id ~ " was interrupted while it published rows to " ~ target_relation ~ ". "
        ~ ("This materialized view was" if changed | unique | list | length == 1 else "These materialized views were")
        ~ " created or changed since then: " ~ changed | unique | join(', ') ~ ". Completing the run would write rows "
        ~ "there twice. Drop the views that are named, run again, and build them again."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# Attached parts do not pass through a materialized view, which would miss them. #}
{% macro validate_can_attach(target_relation, options, views, apply) %}
  {%- if views.tables -%}
    {%- do versioned_collapsing.stop_run(apply,
        "publish is 'atomic', but materialized views read " ~ target_relation ~ ": "
        ~ views.definitions.values() | unique | sort | join(', ') ~ ". Atomic publication attaches parts, which views "
        ~ "do not see. Set publish: auto or publish: journal, or drop the views."
    ) -%}
  {%- endif -%}
{% endmacro %}
