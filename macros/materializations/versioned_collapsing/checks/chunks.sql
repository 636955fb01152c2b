{# A row that no chunk has would be lost without a word: the chunks are counted before the last of them is written. #}
{% macro validate_chunks(target_relation, options, chunked, apply) %}
  {%- set change_set = versioned_collapsing.get_helper_relation(target_relation, 'change_set') -%}
  {%- set staged = versioned_collapsing.read_row_count(change_set) -%}
  {%- if chunked != staged -%}
    {%- do versioned_collapsing.stop_run(apply,
        "The " ~ options.chunks ~ " chunks of " ~ target_relation ~ " contain " ~ chunked ~ " of "
        ~ versioned_collapsing.format_count(staged, 'staged row') ~ ", because the values of the key have no reliable "
        ~ "order. The last chunk was not published. Remove the option chunks, and rebuild the table: "
        ~ apply.rebuild_command
    ) -%}
  {%- endif -%}
{% endmacro %}
