{% macro validate_whole_inputs(model, problems) %}
  {%- if problems -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ " would lack rows of the batches that it takes:\n  - " ~ problems | join('\n  - ')
        ~ "\nBuild these with it: dbt run --select +" ~ model.name ~ '+'
    ) -%}
  {%- endif -%}
{% endmacro %}
