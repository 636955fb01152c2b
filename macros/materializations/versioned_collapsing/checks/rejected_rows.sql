{# Rows of the change set that have no place in the table stop the run: how many, why, and some of them. #}
{% macro validate_rows_fit(target, options, rejected, run) %}
  {%- set key_and_version = (options.unique_key + [options.version]) | join(', ') -%}
  {%- set lines = [] -%}
  {%- for row in rejected -%}
    {%- do lines.append(
        versioned_collapsing.format_count(row['_dbt_n'], 'row') ~ ": " ~ row['_dbt_problem'] ~ " (" ~ key_and_version
        ~ " of some: " ~ row['_dbt_sample'] ~ ")"
    ) -%}
  {%- endfor -%}
  {%- if lines -%}
    {%- do versioned_collapsing.stop_run(run,
        "The change set of " ~ target ~ " has rows that do not fit the table; nothing was written.\n  - "
        ~ lines | join("\n  - ") ~ "\nCorrect them upstream, quarantine them, or declare a wider data_type."
    ) -%}
  {%- endif -%}
{% endmacro %}
