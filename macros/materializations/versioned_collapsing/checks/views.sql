{# To repeat a block is harmless for views that were there when the run began to write. A view that is new, or
   was altered, would take in rows that it has got already. #}
{% macro validate_views_are_unchanged(target_relation, unfinished, views, apply) %}
  {%- set changed = [] -%}
  {%- for definition, view in views.definitions.items() if definition not in unfinished.definition.split(' ') -%}
    {%- do changed.append(view) -%}
  {%- endfor -%}
  {%- if changed -%}
    {%- do versioned_collapsing.stop_run(apply,
        "Run " ~ unfinished.run_id ~ " died while it wrote into " ~ target_relation ~ ", and the materialized views "
        ~ changed | unique | list ~ " have been made or altered since: what completes the run would double rows in "
        ~ "them. Drop them, run again, and build them anew."
    ) -%}
  {%- endif -%}
{% endmacro %}
