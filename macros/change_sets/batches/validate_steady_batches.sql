{# Stops the run if files of its batches changed while Spark read them. Spark may have read such a file in part, or not
   at all. If the file then looks as it did in the first listing, its rows would be lost silently. #}
{% macro validate_steady_batches(model, landed, taken) %}
  {%- if not taken -%}{%- do return(none) -%}{%- endif -%}
  {%- set now = versioned_collapsing.read_landed_batches(model, again=true) -%}
  {%- set changed = [] -%}
  {%- for batch in taken
      if (now.get(batch, {}).get('hash'), now.get(batch, {}).get('times'))
      != (landed[batch].hash, landed[batch].times) -%}
    {%- do changed.append(batch) -%}
  {%- endfor -%}
  {%- if changed -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": files of " ~ versioned_collapsing.get_batches_text(changed) ~ " changed while Spark read "
        ~ "them, so nothing of this change set is applied. Run again when the files are complete. Write each batch to "
        ~ "a folder .batch=N and rename the folder last: a run then reads all of it or nothing."
    ) -%}
  {%- endif -%}
{% endmacro %}
