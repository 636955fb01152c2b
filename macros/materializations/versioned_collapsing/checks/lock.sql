{% macro validate_lock_is_free(target, holder, model) %}
  {%- do exceptions.raise_compiler_error(
      "Another run is at work on " ~ target ~ ": run " ~ holder.run_id ~ " of dbt invocation " ~ holder.invocation_id
      ~ ". Run again when it has ended. "
      ~ "If there is no such run: dbt run-operation release_lock --args '{model: " ~ model ~ "}'"
  ) -%}
{% endmacro %}
