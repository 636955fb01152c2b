{# With a journal its blocks are written from the one on that the ledger names. Without, what is missing is
   found anew; views that have come since make a journal of it. #}
{% macro complete_chunk(target, options, columns, unfinished) %}
  {%- if unfinished.is_journal -%}
    {%- set counts = versioned_collapsing.count_outcomes(target, options, columns, unfinished) -%}
    {%- do versioned_collapsing.publish_signed_rows(target, options, columns, unfinished, unfinished.block) -%}
    {%- do versioned_collapsing.remember_deletes(target, options, unfinished, counts) -%}
    {%- do return(counts) -%}
  {%- endif -%}
  {%- do versioned_collapsing.stage_uncollapsed_rows(target, options, columns, unfinished) -%}
  {%- set counts = versioned_collapsing.count_outcomes(target, options, columns, unfinished) -%}
  {%- do unfinished.update({'is_journal': versioned_collapsing.uses_journal(target, options, unfinished)}) -%}
  {%- do versioned_collapsing.publish_staged_changes(target, options, columns, unfinished, counts) -%}
  {%- do return(counts) -%}
{% endmacro %}
