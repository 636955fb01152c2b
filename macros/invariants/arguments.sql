{% macro validate_one_aggregate(aggregate, projection) %}
  {%- if (aggregate is none) == (projection is none) -%}
    {%- do exceptions.raise_compiler_error(
        "aggregate_agrees: set either `aggregate`, a relation, or `projection`, the name of a projection."
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro validate_has_version(table) %}
  {%- if execute and table.is_collapsing and not table.version -%}
    {%- do exceptions.raise_compiler_error(
        "The engine of " ~ table.relation ~ " has no version. Name the version column in the argument `version`."
    ) -%}
  {%- endif -%}
{% endmacro %}


{% macro validate_waiting_limits(rows, share) %}
  {%- if rows is none and share is none -%}
    {%- do exceptions.raise_compiler_error(
        "rows_waiting_to_collapse_below: no limit is set. Set `rows`, or `share` of the stored rows, or both."
    ) -%}
  {%- endif -%}
{% endmacro %}
