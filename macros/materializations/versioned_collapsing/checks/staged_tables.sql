{# An apply that began to write cannot be completed without what it staged. #}
{% macro validate_staged_tables(target_relation, unfinished, missing, apply) %}
  {%- if missing -%}
    {%- do versioned_collapsing.stop_run(apply,
        "Run " ~ unfinished.run_id ~ " was interrupted while it published rows to " ~ target_relation
        ~ ", and it cannot be completed: " ~ missing | join(', ')
        ~ (" is" if missing | length == 1 else " are") ~ " missing or empty. "
        ~ ("If that run used another replica, connect dbt to it and run again. Otherwise rebuild"
        if versioned_collapsing.get_replication(target_relation) else "Rebuild")
        ~ " the table: " ~ unfinished.rebuild_command
    ) -%}
  {%- endif -%}
{% endmacro %}
