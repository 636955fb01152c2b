{# An applied batch is not read again, so later changes of its files would be lost silently. With `on_changed_batch:
   retake`, such a batch is taken again automatically. #}
{% macro validate_changed_batches(model, changed, on_changed_batch) %}
  {%- if on_changed_batch not in ('error', 'retake') -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": on_changed_batch is '" ~ on_changed_batch ~ "'; it takes 'error' or 'retake'."
    ) -%}
  {%- endif -%}
  {%- set unexpected = changed | reject('in', versioned_collapsing.get_batches_to_retake()) | list -%}
  {%- if unexpected and on_changed_batch == 'error' -%}
    {%- do exceptions.raise_compiler_error(
        "Files of applied batches have changed: " ~ unexpected | join(', ') ~ ". To take these batches again (changes "
        ~ "that are applied already do no harm): dbt run --select " ~ model.name ~ "+ --vars '{retake_batches: "
        ~ unexpected ~ "}'"
    ) -%}
  {%- endif -%}
{% endmacro %}
