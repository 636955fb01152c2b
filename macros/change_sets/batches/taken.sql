{# Batches that a target has not applied, that have changed since, or that must be taken again. A batch with a number
   below an applied one is taken too, because it may have landed late. #}
{% macro get_batches_to_take(landed, applied, changed) %}
  {%- set again = changed + versioned_collapsing.get_batches_to_retake() -%}
  {%- set taken = [] -%}
  {%- for batch in versioned_collapsing.get_batches_through(landed) if batch not in applied or batch in again -%}
    {%- do taken.append(batch) -%}
  {%- endfor -%}
  {%- do return(taken) -%}
{% endmacro %}


{# Applied batches whose files have changed since they were applied. #}
{% macro get_changed_batches(landed, applied) %}
  {%- set changed = [] -%}
  {%- for batch, hash in applied.items() if batch in landed and landed[batch].hash != hash -%}
    {%- do changed.append(batch) -%}
  {%- endfor -%}
  {%- do return(changed | sort) -%}
{% endmacro %}


{# Batches that a target has, or that its last table had, and that are no longer in the landing zone. A table that is
   built from the start would lack them. Batches below the variable `rebuild_from_batch` do not count. #}
{% macro get_missing_batches(landed, known) %}
  {%- set begin = var('rebuild_from_batch', 0) | int -%}
  {%- set missing = versioned_collapsing.get_batches_through(known) | reject('in', landed) -%}
  {%- do return(missing | select('ge', begin) | sort | list) -%}
{% endmacro %}


{# Whether a table can be built from the taken batches alone. The history of a lake table may no longer have the first
   commits. So a change set of a lake is complete only if no target has applied a commit: it is then a snapshot of the
   whole table. #}
{% macro get_is_complete(landed, taken, missing, applied_commits) %}
  {%- set all_are_taken = taken | length == versioned_collapsing.get_batches_through(landed) | length -%}
  {%- do return(all_are_taken and not missing and not applied_commits) -%}
{% endmacro %}
