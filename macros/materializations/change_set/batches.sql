{# Batches that a target has not applied, that have changed since, or that are to be taken again; never more
   than a maximum applied: a batch may land late. #}
{% macro get_batches_to_take(landed, applied, changed) %}
  {%- set again = changed + versioned_collapsing.get_batches_to_retake() -%}
  {%- set taken = [] -%}
  {%- for batch in versioned_collapsing.get_batches_through(landed) if batch not in applied or batch in again -%}
    {%- do taken.append(batch) -%}
  {%- endfor -%}
  {%- do return(taken) -%}
{% endmacro %}


{# The batches that the variable `retake_batches` names: a number, or a list of them. #}
{% macro get_batches_to_retake() %}
  {%- do return(versioned_collapsing.as_list(var('retake_batches', none)) | map('int') | list) -%}
{% endmacro %}


{# Applied batches whose files are not those that were applied. #}
{% macro get_changed_batches(landed, applied) %}
  {%- set changed = [] -%}
  {%- for batch, hash in applied.items() if batch in landed and landed[batch].hash != hash -%}
    {%- do changed.append(batch) -%}
  {%- endfor -%}
  {%- do return(changed | sort) -%}
{% endmacro %}


{# Of these the batches up to the variable `through_batch`. #}
{% macro get_batches_through(batches) %}
  {%- set through = var('through_batch', none) -%}
  {%- do return(batches | list if through is none else batches | select('le', through | int) | list) -%}
{% endmacro %}


{# Batches that a target has, or had when it was last there, and that have not landed any more: what is built from
   nothing lacks them. Those below the variable `rebuild_from_batch` are not missed. #}
{% macro get_missing_batches(landed, known) %}
  {%- set begin = var('rebuild_from_batch', 0) | int -%}
  {%- do return(versioned_collapsing.get_batches_through(known) | reject('in', landed) | select('ge', begin) | sort | list) -%}
{% endmacro %}


{# A rebuild without batches that are applied would lose their rows without a word. #}
{% macro validate_missing_batches(model, missing) %}
  {%- if missing -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ " is to be built from the first batch on, and " ~ versioned_collapsing.get_batches_text(missing)
        ~ (" is applied and has" if missing | length == 1 else " are applied and have") ~ " not landed any more: rows would be lost. "
        ~ "Land what is missing again. Or build without it, for good: dbt run " ~ ('--full-refresh ' if should_full_refresh() else '') ~ "--select "
        ~ model.name ~ "+ --vars '{rebuild_from_batch: " ~ (missing[-1] + 1) ~ "}'"
    ) -%}
  {%- endif -%}
{% endmacro %}


{# What is wrong with the variables that name batches. `through_batch` may name one that has not landed, since tables
   of one run need not have the same. #}
{% macro validate_batch_variables(model, landed) %}
  {%- set problems = [] -%}
  {%- set near = landed | list | last or 1 -%}
  {%- for name in ('through_batch', 'rebuild_from_batch') -%}
    {%- set value = var(name, none) -%}
    {%- if value is not none and not versioned_collapsing._is_batch(value) -%}
      {%- do problems.append(name ~ ": is '" ~ value ~ "'; it takes the number of a batch: --vars '{" ~ name ~ ": " ~ near ~ "}'.") -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set again = var('retake_batches', none) -%}
  {%- for value in ([again] if again is mapping else versioned_collapsing.as_list(again)) -%}
    {%- if not versioned_collapsing._is_batch(value) -%}
      {%- do problems.append("retake_batches: has '" ~ value ~ "'; it takes the number of a batch, or a list of them: --vars '{retake_batches: [" ~ near ~ "]}'.") -%}
    {%- elif value | int not in landed -%}
      {%- do problems.append(
          "retake_batches: names " ~ value ~ ", which has not landed. "
          ~ ("The nearest that has is " ~ versioned_collapsing._get_nearest(landed, value | int) ~ "." if landed else "None has.")
      ) -%}
    {%- elif value | int not in versioned_collapsing.get_batches_through(landed) -%}
      {%- do problems.append("retake_batches: names " ~ value ~ ", which is above through_batch, " ~ var('through_batch') ~ ". Leave out one of them.") -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'a change_set') -%}
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


{# Batches in a message: those in a row as one, and not more than ten. #}
{% macro get_batches_text(batches) %}
  {%- set ranges = [] -%}
  {%- for batch in batches -%}
    {%- if ranges and ranges[-1][1] + 1 == batch -%}
      {%- do ranges.append([ranges.pop()[0], batch]) -%}
    {%- else -%}
      {%- do ranges.append([batch, batch]) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set texts = [] -%}
  {%- for first, last in ranges[:10] -%}
    {%- do texts.append(first if first == last else first ~ ' to ' ~ last) -%}
  {%- endfor -%}
  {%- do return(
      ('batch ' if batches | length == 1 else 'batches ') ~ texts | join(', ') ~ (' and more' if ranges | length > 10 else '')
  ) -%}
{% endmacro %}


{# An applied batch is not read again, so that what changes in it afterwards would be lost without a word. With
   `on_changed_batch: retake` it is taken again by itself. #}
{% macro validate_changed_batches(model, changed, on_changed_batch) %}
  {%- if on_changed_batch not in ('error', 'retake') -%}
    {%- do exceptions.raise_compiler_error(
        model.unique_id ~ ": on_changed_batch is '" ~ on_changed_batch ~ "'; it takes 'error' or 'retake'."
    ) -%}
  {%- endif -%}
  {%- set unexpected = changed | reject('in', versioned_collapsing.get_batches_to_retake()) | list -%}
  {%- if unexpected and on_changed_batch == 'error' -%}
    {%- do exceptions.raise_compiler_error(
        "Files in batches that are applied have changed since: " ~ unexpected | join(', ') ~ ". To take them again (what is "
        ~ "applied already does no harm): dbt run --select " ~ model.name ~ "+ --vars '{retake_batches: " ~ unexpected ~ "}'"
    ) -%}
  {%- endif -%}
{% endmacro %}
