{# `old_state: stream`: the change set holds the state and cancel rows themselves, so that nothing is looked up.
   They are staged, and written as they are; a run that died is completed by repeating its insert. #}
{% macro apply_signed_rows(target, options, columns, sql, run) %}
  {%- if not run.has_manifest -%}
    {%- do exceptions.warn(
        target ~ ": with `old_state: stream` a select that is of no change_set model is written as it is by each run, "
        ~ "rows that were written before too. "
        ~ "Select from a change_set model, which leaves out what is applied, or see to it that the select has new "
        ~ "rows only."
    ) -%}
  {%- endif -%}
  {%- do versioned_collapsing.stage_signed_rows(target, options, columns, sql, run) -%}
  {%- do versioned_collapsing.uses_journal(target, options, run) -%}
  {%- set counts = versioned_collapsing.read_signed_row_counts(target, options) -%}
  {%- if counts.rows_read -%}
    {%- do versioned_collapsing.start_publishing(target, run) -%}
    {%- do versioned_collapsing.publish_signed_rows(target, options, columns, run) -%}
  {%- endif -%}
  {%- if counts.rows_read or run.batches -%}
    {%- do versioned_collapsing.record_run(target, run, 'applied', counts) -%}
  {%- endif -%}
  {%- do versioned_collapsing.drop_staged(target) -%}
  {%- do return(counts) -%}
{% endmacro %}
