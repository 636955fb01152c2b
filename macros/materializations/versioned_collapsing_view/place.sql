{% macro validate_view_place(this, existing) %}
  {%- if existing is not none and existing.type != 'table' -%}
    {%- do exceptions.raise_compiler_error(
        existing ~ " is a " ~ existing.type ~ ", which a table cannot take the place of. Drop it or rename it, then "
        ~ "run again."
    ) -%}
  {%- endif -%}
{% endmacro %}
