{# With a watermark, a run may read rows again that were applied before. They are only duplicates if changes are
   compared by version. With `old_state: stream` and `delete_version: ignore`, they are not. #}
{% macro get_watermark_problems(options, given) %}
  {%- if '_watermark' not in given -%}
    {%- do return(["columns: the change set has _landing, but no _watermark. Select both, or neither."]
        if '_landing' in given else []) -%}
  {%- endif -%}
  {%- set refused = ["old_state: stream"] if options.old_state == 'stream'
      else ["delete_version: ignore"] if options.delete_version == 'ignore' else [] -%}
  {%- set problems = [] -%}
  {%- for option in refused -%}
    {%- do problems.append(
        "columns: the change set has _watermark, so it contains rows that were applied before, but with `" ~ option
        ~ "` a change can be applied only once. Remove the option, or select the new rows without _watermark."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
