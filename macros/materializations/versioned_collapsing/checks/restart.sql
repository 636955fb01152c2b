{# ClickHouse notes the parts of a block before it adds them, and drops a repetition of parts that it has noted. If it
   was killed in between, a part is missing. In the table, a comparison finds the missing rows. In a view, and in a
   table of signed rows, nothing finds them. #}
{% macro warn_of_a_restart(target_relation, unfinished, view_names) %}
  {%- set places = ([target_relation | string] if unfinished.is_stream else []) + view_names -%}
  {%- if unfinished.is_restarted and places -%}
    {%- do exceptions.warn(
        "ClickHouse was restarted after run " ~ unfinished.run_id ~ " began to publish rows to " ~ target_relation
        ~ ". If it was killed during an insert, a part of that insert may be missing. This run completes the other, "
        ~ "but these may lack rows: " ~ places | join(', ') ~ ". Compare "
        ~ ("the table with its source (dbt run-operation reconcile)" if unfinished.is_stream else '')
        ~ (", and " if unfinished.is_stream and view_names else '')
        ~ ("the views with the table, or build them again" if view_names else '') ~ "."
    ) -%}
  {%- endif -%}
{% endmacro %}
