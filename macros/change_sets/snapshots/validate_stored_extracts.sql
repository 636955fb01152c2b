{# Changes are found by comparison with the stored extract. So this extract must still be in the landing zone, and must
   not have changed. #}
{% macro validate_stored_extracts(model, stored, landed, taken) %}
  {%- set batches = stored | map(attribute='batch') | reject('none') | list -%}
  {%- if not taken or not batches -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set newest = taken | max -%}
  {%- set problems = [] -%}
  {%- set rebuild = "build both again from extract " ~ newest ~ ": dbt run --full-refresh --select " ~ model.name
      ~ "+ --vars '{rebuild_from_batch: " ~ newest ~ "}'" -%}
  {%- for extract in stored if extract.batch is not none and newest >= extract.batch -%}
    {%- set place = "extract " ~ extract.batch ~ ", which is stored in " ~ extract.target.split('.')[-1] ~ ", " -%}
    {%- if extract.batch not in landed -%}
      {%- do problems.append(
          place ~ "is no longer in the landing zone, so the changes since then are unknown. Put it back, or " ~ rebuild
      ) -%}
    {%- elif landed[extract.batch].hash != extract.hash -%}
      {%- do problems.append(
          place ~ "has changed since it was applied, so the stored rows are unknown. Put it back as it was and land "
          ~ "the corrected extract as a new batch, or " ~ rebuild
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set is_new_to_some = stored | selectattr('batch', 'none') | list or batches | select('lt', newest) | list -%}
  {%- if newest < batches | max and is_new_to_some -%}
    {%- do problems.append(
        "extract " ~ newest ~ " is new to some targets, but others already have extract " ~ (batches | max)
        ~ ". Remove through_batch to take that extract too, or " ~ rebuild
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'snapshot_changes') -%}
{% endmacro %}
