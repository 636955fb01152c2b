{# The problems with the variables that name batches, as one error. `through_batch` may name a batch that has not
   landed, because the change sets of one run need not have the same batches. #}
{% macro validate_batch_variables(model, landed) %}
  {%- set problems = [] -%}
  {%- set near = landed | list | last or 1 -%}
  {%- for name in ('through_batch', 'rebuild_from_batch') -%}
    {%- set value = var(name, none) -%}
    {%- if value is not none and not versioned_collapsing._is_batch(value) -%}
      {%- do problems.append(
          name ~ " is '" ~ value ~ "'; it takes the number of a batch: --vars '{" ~ name ~ ": " ~ near ~ "}'."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set again = var('retake_batches', none) -%}
  {%- for value in ([again] if again is mapping else versioned_collapsing.as_list(again)) -%}
    {%- do problems.extend(versioned_collapsing._get_retaken_batch_problems(value, landed, near)) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'a change_set') -%}
{% endmacro %}


{% macro _get_retaken_batch_problems(value, landed, near) %}
  {%- if not versioned_collapsing._is_batch(value) -%}
    {%- do return([
        "retake_batches has '" ~ value ~ "'; it takes the number of a batch, or a list of them: "
        ~ "--vars '{retake_batches: [" ~ near ~ "]}'."
    ]) -%}
  {%- elif value | int not in landed -%}
    {%- set nearest = versioned_collapsing._get_nearest(landed, value | int) -%}
    {%- do return([
        "retake_batches names " ~ value ~ ", which has not landed. "
        ~ ("The nearest landed batch is " ~ nearest ~ "." if landed else "No batch has landed.")
    ]) -%}
  {%- elif value | int not in versioned_collapsing.get_batches_through(landed) -%}
    {%- do return([
        "retake_batches names " ~ value ~ ", which is above through_batch (" ~ var('through_batch')
        ~ "). Remove one of the two variables."
    ]) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}


{% macro _is_batch(value) %}
  {%- do return(modules.re.fullmatch('[0-9]{1,19}', value | string) is not none) -%}
{% endmacro %}


{% macro _get_nearest(landed, batch) %}
  {%- set nearest = namespace(batch=none) -%}
  {%- for other in landed if nearest.batch is none or (other - batch) | abs < (nearest.batch - batch) | abs -%}
    {%- set nearest.batch = other -%}
  {%- endfor -%}
  {%- do return(nearest.batch) -%}
{% endmacro %}
