{# A row that no chunk has would be lost without a word: the chunks are counted before the last of them is written. #}
{% macro validate_chunks(target, options, chunked, run) %}
  {%- set staged = versioned_collapsing.read_staged_row_count(target, 'change_set') -%}
  {%- if chunked != staged -%}
    {%- do versioned_collapsing.stop_run(run,
        "The " ~ options.chunks ~ " chunks of " ~ target ~ " have " ~ chunked ~ " of " ~ staged
        ~ " staged rows: the order of the key's values is not "
        ~ "reliable. The last chunk was not written. Leave the option chunks out, and rebuild the table: "
        ~ run.rebuild_command
    ) -%}
  {%- endif -%}
{% endmacro %}
