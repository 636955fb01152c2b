{# Both sides must have the columns that are compared. #}
{% macro validate_reconciled_columns(table, truth_text, compared, names, types, given) %}
  {%- set unknown = compared | reject('in', types) | list -%}
  {%- set lacking = names | reject('in', given) | list -%}
  {%- set problems = [] -%}
  {%- if unknown -%}
    {%- do problems.append(
        "columns: " ~ table ~ " lacks " ~ unknown | join(', ') ~ ". It has " ~ types | join(', ') ~ "."
    ) -%}
  {%- endif -%}
  {%- if lacking -%}
    {%- do problems.append(
        truth_text ~ " lacks " ~ lacking | join(', ') ~ ". It has " ~ given | join(', ') ~ "."
    ) -%}
  {%- endif -%}
  {%- if problems -%}
    {%- do exceptions.raise_compiler_error("reconcile: " ~ problems | join("\nreconcile: ")) -%}
  {%- endif -%}
{% endmacro %}


{# What differs is an error, for whoever waits for the exit code. #}
{% macro validate_no_difference(table, truth_text, found) %}
  {%- set counts = {'missing': 0, 'unexpected': 0, 'different': 0} -%}
  {%- for row in found.rows -%}
    {%- do counts.update({row['difference']: row['n'] | int}) -%}
  {%- endfor -%}
  {%- do exceptions.raise_compiler_error(
      "reconcile: " ~ table ~ " differs from " ~ truth_text ~ ": "
      ~ versioned_collapsing.format_count(counts.missing, 'key') ~ " missing, " ~ counts.unexpected ~ " unexpected, "
      ~ counts.different ~ " with other values\n  " ~ versioned_collapsing.format_table(found) | join("\n  ")
  ) -%}
{% endmacro %}
