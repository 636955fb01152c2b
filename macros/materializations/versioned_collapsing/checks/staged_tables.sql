{# An apply that began to write cannot be completed without what it staged. #}
{% macro validate_staged_tables(target_relation, unfinished, missing, apply) %}
  {%- if missing -%}
    {%- do versioned_collapsing.stop_run(apply,
        "Run " ~ unfinished.run_id ~ " on " ~ target_relation ~ " died while it wrote, and " ~ missing | join(', ')
        ~ ", which it would be completed from, is not there. Rebuild the table: " ~ unfinished.rebuild_command
    ) -%}
  {%- endif -%}
{% endmacro %}
