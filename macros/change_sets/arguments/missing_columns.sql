{# The problem that a staging model lacks columns that it must have. #}
{% macro get_missing_column_problems(events, columns, needed) %}
  {%- set missing = needed | reject('in', columns) | list -%}
  {%- if missing -%}
    {%- do return([
        events ~ " lacks " ~ missing | join(', ') ~ ". It has " ~ columns | join(', ')
        ~ ". Correct the name, or select the column."
    ]) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}
