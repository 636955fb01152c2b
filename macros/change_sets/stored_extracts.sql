{# The extract that each target of a change set of extracts has stored, the newest that it has applied: its batch and the
   hash that this had then. A target that has none, or is to be built anew, has none of both. #}
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
  {%- for node in graph.nodes.values() if node.config.materialized == 'versioned_collapsing' and model.unique_id in node.depends_on.nodes -%}
    {%- do by_target.update({node.unique_id: versioned_collapsing._read_ledger(node).applied}) -%}
  {%- endfor -%}
  {%- do return(by_target) -%}
{% endmacro %}


{# What has changed is told by comparing with the extract that is stored: it must have landed, and be as it was. #}
{% macro validate_stored_extracts(model, landed, taken) %}
  {%- set stored = versioned_collapsing.read_stored_extracts(model) -%}
  {%- set batches = stored | map(attribute='batch') | reject('none') | list -%}
  {%- if not taken or not batches -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set newest = taken | max -%}
  {%- set problems = [] -%}
  {%- set rebuild = "build both anew of extract " ~ newest ~ ": dbt run --full-refresh --select " ~ model.name
      ~ "+ --vars '{rebuild_from_batch: " ~ newest ~ "}'" -%}
  {%- for extract in stored if extract.batch is not none and newest >= extract.batch -%}
    {%- set place = "extract " ~ extract.batch ~ ", which is stored in " ~ extract.target.split('.')[-1] ~ ", " -%}
    {%- if extract.batch not in landed -%}
      {%- do problems.append(
          place ~ "is no longer in the landing zone: what has changed since cannot be told. Put it back, or " ~ rebuild
      ) -%}
    {%- elif landed[extract.batch].hash != extract.hash -%}
      {%- do problems.append(
          place ~ "has changed since it was applied: what is stored cannot be told. Put it back as it was and land the corrected "
          ~ "extract as a new batch, or " ~ rebuild
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- if newest < batches | max and stored | map(attribute='batch') | select('none') | list + (batches | select('lt', newest) | list) -%}
    {%- do problems.append(
        "extract " ~ newest ~ " is new to some of its targets, and others have extract " ~ (batches | max) ~ ". Take that one too: leave "
        ~ "out through_batch, or " ~ rebuild
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'snapshot_changes') -%}
{% endmacro %}
