{# Files that change while Spark lists and reads them could be read in part, or not at all, and later look as they did
   when this run listed them: the rows would be lost without a word. #}
{% macro validate_steady_batches(model, landed, taken) %}
  {%- if not taken -%}{%- do return(none) -%}{%- endif -%}
  {%- set now = versioned_collapsing.read_landed_batches(model, again=true) -%}
  {%- set changed = [] -%}
  {%- for batch in taken
      if (now.get(batch, {}).get('hash'), now.get(batch, {}).get('landed_at'))
      != (landed[batch].hash, landed[batch].landed_at) -%}
    {%- do changed.append(batch) -%}
  {%- endfor -%}
  {%- if changed -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": files of " ~ versioned_collapsing.get_batches_text(changed) ~ " have changed while Spark "
        ~ "read them, so nothing of this change set is applied. Run again when the files are complete. Write a batch "
        ~ "as .batch=N and rename it last: a run then reads all of it or nothing."
    ) -%}
  {%- endif -%}
{% endmacro %}
