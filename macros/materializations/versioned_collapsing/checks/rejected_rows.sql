{# Stops the run if rows of the change set do not fit the table. The error counts them, says why, and shows some of
   them. #}
{% macro validate_rows_fit(target_relation, options, rejected, apply) %}
  {%- set key_and_version = (options.unique_key + [options.version]) | join(', ') -%}
  {%- set lines = [] -%}
  {%- for row in rejected -%}
    {%- set examples = ". Examples (" ~ key_and_version ~ "): " ~ row.sample if row.sample else "" -%}
    {%- do lines.append(versioned_collapsing.format_count(row.n, 'row') ~ ": " ~ row.problem ~ examples) -%}
  {%- endfor -%}
  {%- if lines -%}
    {%- do versioned_collapsing.stop_run(apply,
        "The change set of " ~ target_relation ~ " has rows that do not fit the table. Nothing was written.\n  - "
        ~ lines | join("\n  - ") ~ "\nCorrect them upstream, quarantine them, or declare a wider data_type."
    ) -%}
  {%- endif -%}
{% endmacro %}
