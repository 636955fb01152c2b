{# The extract that each target of a change set of extracts has stored, which is the newest one that it has applied: its
   batch, and the hash that the batch had then. Both are none for a target that has no extract, or that is built
   anew. #}
{% macro read_stored_extracts(model) %}
  {%- set stored = [] -%}
  {%- for target, applied in versioned_collapsing._read_applied_by_target(model).items() -%}
    {%- set batch = none if should_full_refresh() else applied | max -%}
    {%- set batch = batch if batch is number else none -%}
    {%- do stored.append({'target': target, 'batch': batch, 'hash': applied.get(batch)}) -%}
  {%- endfor -%}
  {%- do return(stored) -%}
{% endmacro %}


{# The batches that each target has applied, with the hash that they had then. #}
{% macro _read_applied_by_target(model) %}
  {%- if adapter.query_on is not defined -%}
    {%- do return({model.unique_id: var('applied_batches', {}).get(model.name, {})}) -%}
  {%- endif -%}
  {%- set by_target = {} -%}
  {%- for node in versioned_collapsing.get_targets(model) -%}
    {%- do by_target.update({node.unique_id: versioned_collapsing.read_batches_of_target(node).applied}) -%}
  {%- endfor -%}
  {%- do return(by_target) -%}
{% endmacro %}
