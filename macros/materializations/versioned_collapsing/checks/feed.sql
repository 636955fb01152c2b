{# The change feed needs some column names for itself. #}
{% macro validate_feed_columns(target_relation, table_columns, apply) %}
  {%- set own = versioned_collapsing.get_feed_columns() -%}
  {%- set taken = table_columns | map(attribute='name') | select('in', own) | list -%}
  {%- if taken -%}
    {%- do versioned_collapsing.stop_run(apply,
        target_relation ~ " has " ~ ("a column" if taken | length == 1 else "columns") ~ " with a name that the change "
        ~ "feed needs: " ~ taken | join(', ') ~ ". Rename " ~ ("it" if taken | length == 1 else "them") ~ " in the "
        ~ "model, or set `change_feed: false` if no view reads the table."
    ) -%}
  {%- endif -%}
{% endmacro %}


{# The change feed needs a table name for itself. #}
{% macro validate_feed_place(described, apply) %}
  {%- if described.is_taken -%}
    {%- do versioned_collapsing.stop_run(apply,
        apply.feed.relation ~ " is not a change feed. Rename or drop it, or set `change_feed: false` if no view reads "
        ~ "the table."
    ) -%}
  {%- endif -%}
{% endmacro %}
