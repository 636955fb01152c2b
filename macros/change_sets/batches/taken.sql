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


{# Applied batches whose files are not those that were applied. #}
{% macro get_changed_batches(landed, applied) %}
  {%- set changed = [] -%}
  {%- for batch, hash in applied.items() if batch in landed and landed[batch].hash != hash -%}
    {%- do changed.append(batch) -%}
  {%- endfor -%}
  {%- do return(changed | sort) -%}
{% endmacro %}


{# Batches that a target has, or had when it was last there, and that have not landed any more: what is built from
   nothing lacks them. Those below the variable `rebuild_from_batch` are not missed. #}
{% macro get_missing_batches(landed, known) %}
  {%- set begin = var('rebuild_from_batch', 0) | int -%}
  {%- set missing = versioned_collapsing.get_batches_through(known) | reject('in', landed) -%}
  {%- do return(missing | select('ge', begin) | sort | list) -%}
{% endmacro %}


{# Whether a table can be built from the batches that are taken alone. The commits that a lake's history still has may
   begin later: a change set of a lake is complete if it is the table as it is, since no target has applied a commit. #}
{% macro get_is_complete(landed, taken, missing, applied_commits) %}
  {%- set all_are_taken = taken | length == versioned_collapsing.get_batches_through(landed) | length -%}
  {%- do return(all_are_taken and not missing and not applied_commits) -%}
{% endmacro %}
