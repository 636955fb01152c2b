{# Rows that came signed cannot be compared with what is stored as changes can: if some of them are there and others are
   not, nobody knows which are missing. #}
{% macro validate_publication(target_relation, present, absent, apply) %}
  {%- if present and absent -%}
    {%- do versioned_collapsing.stop_run(apply,
        "Run " ~ apply.run_id ~ " was interrupted while it published signed rows to " ~ target_relation ~ ", and it "
        ~ "cannot be completed: " ~ versioned_collapsing.format_count(present, 'version') ~ " of the staged rows "
        ~ ("is" if present == 1 else "are") ~ " published, " ~ absent ~ " " ~ ("is" if absent == 1 else "are")
        ~ " not. Rebuild the table: " ~ apply.rebuild_command
    ) -%}
  {%- endif -%}
{% endmacro %}
