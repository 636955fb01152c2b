{# A row that is in no chunk would be lost silently. So the rows of all chunks are counted before anything is
   published. #}
{% macro validate_chunks(target_relation, options, staged, chunked, apply) %}
  {%- if chunked != staged -%}
    {%- do versioned_collapsing.stop_run(apply,
        "The " ~ options.chunks ~ " chunks of " ~ target_relation ~ " contain " ~ chunked ~ " of "
        ~ versioned_collapsing.format_count(staged, 'staged row') ~ ", because the values of the key have no reliable "
        ~ "order. Nothing was published. Remove the option chunks and rebuild the table: " ~ apply.rebuild_command
    ) -%}
  {%- endif -%}
{% endmacro %}
