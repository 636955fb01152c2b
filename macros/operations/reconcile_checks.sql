{# Both sides must have the columns that are compared. #}
{% macro validate_reconciled_columns(operation, table, truth_text, compared, names, types, given) %}
  {%- set unknown = compared | reject('in', types) | list -%}
  {%- set lacking = names | reject('in', given) | list -%}
  {%- set problems = [] -%}
  {%- if unknown -%}
    {%- do problems.append(
        "columns: " ~ table ~ " lacks " ~ unknown | join(', ') ~ ". It has " ~ types | join(', ')
        ~ ". Correct the name."
    ) -%}
  {%- endif -%}
  {%- if lacking -%}
    {%- do problems.append(
        truth_text ~ " lacks " ~ lacking | join(', ') ~ ". It has " ~ given | join(', ')
        ~ ". Correct the name, or select the column."
    ) -%}
  {%- endif -%}
  {%- if problems -%}
    {%- do exceptions.raise_compiler_error(operation ~ ": " ~ problems | join("\n" ~ operation ~ ": ")) -%}
  {%- endif -%}
{% endmacro %}


{# A difference is an error, so that the exit code shows it. #}
{% macro validate_no_difference(comparison, counts, found) %}
  {%- if found -%}
    {%- do exceptions.raise_compiler_error(
        "reconcile: " ~ comparison.table ~ " differs from " ~ comparison.truth_text ~ ": "
        ~ versioned_collapsing.format_count(counts.missing, 'key') ~ " missing, " ~ counts.unexpected
        ~ " unexpected, " ~ counts.different ~ " with other values\n  "
        ~ versioned_collapsing.format_table(found) | join("\n  ")
    ) -%}
  {%- endif -%}
{% endmacro %}
