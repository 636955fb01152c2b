{# Completes the chunk at which a run died, and returns its counts. With a journal its blocks are written from the one
   on
   that the ledger names. Without, what is missing is found anew; views that have come since make a journal of it. #}
{% macro complete_chunk(target_relation, options, columns, progress, apply) %}
  {%- if progress.is_journal -%}
    {%- set uncollapsed = versioned_collapsing.read_uncollapsed_rows(target_relation, options) -%}
    {%- set counts = versioned_collapsing.decide_outcomes(target_relation, options, columns, uncollapsed, apply) -%}
    {%- do versioned_collapsing.publish_signed_rows(target_relation, options, columns, progress, apply) -%}
    {%- do versioned_collapsing.remember_deletes(target_relation, options, uncollapsed, counts, apply) -%}
    {%- do return(counts) -%}
  {%- endif -%}
  {%- set changes = versioned_collapsing.get_helper_relation(target_relation, 'changes') -%}
  {%- set pairing = versioned_collapsing.read_pairing_expressions(options, columns) -%}
  {%- set uncollapsed = versioned_collapsing.stage_uncollapsed_rows(
      target_relation, options, columns, pairing, versioned_collapsing.read_row_count(changes), apply
  ) -%}
  {%- set counts = versioned_collapsing.decide_outcomes(target_relation, options, columns, uncollapsed, apply) -%}
  {%- set prepared = versioned_collapsing.prepare_publishing(target_relation, options, apply) -%}
  {%- do versioned_collapsing.publish_staged_changes(
      target_relation, options, columns, uncollapsed, counts, dict(progress, block=0, **prepared), apply
  ) -%}
  {%- do return(counts) -%}
{% endmacro %}
