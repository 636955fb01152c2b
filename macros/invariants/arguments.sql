{% macro validate_one_aggregate(aggregate, projection) %}
  {%- if (aggregate is none) == (projection is none) -%}
    {%- do exceptions.raise_compiler_error(
        "aggregate_agrees: give either `aggregate`, a relation, or `projection`, the name of a projection."
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro validate_has_version(table) %}
  {%- if execute and table.is_collapsing and not table.version -%}
    {%- do exceptions.raise_compiler_error(
        table.relation ~ " has no version that its engine knows. Say which column it is: `version`."
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro validate_waiting_limits(rows, share) %}
  {%- if rows is none and share is none -%}
    {%- do exceptions.raise_compiler_error(
        "rows_waiting_to_collapse_below: say how many may wait, by `rows`, by `share` of the stored rows, or by both."
    ) -%}
  {%- endif -%}
{% endmacro %}
