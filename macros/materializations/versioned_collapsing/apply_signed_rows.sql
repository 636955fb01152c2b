{# `old_state: stream`: the change set holds the state and cancel rows themselves, so that nothing is looked up.
   They are staged, and written as they are; a run that died is completed by repeating its insert. #}
{% macro apply_signed_rows(target_relation, options, columns, sql, truncate, apply) %}
  {%- do versioned_collapsing.warn_of_a_stream_without_batches(target_relation, apply) -%}
  {%- do versioned_collapsing.stage_signed_rows(target_relation, options, columns, sql, apply) -%}
  {%- set prepared = versioned_collapsing.prepare_publishing(target_relation, options, apply) -%}
  {%- set progress = dict(versioned_collapsing.get_initial_progress(), truncated_at=truncate.at, **prepared) -%}
  {%- set counts = versioned_collapsing.read_signed_row_counts(target_relation, options) -%}
  {%- if counts.rows_read -%}
    {%- do versioned_collapsing.start_publishing(target_relation, progress, apply) -%}
    {%- do versioned_collapsing.publish_signed_rows(target_relation, options, columns, progress, apply) -%}
  {%- endif -%}
  {%- if counts.rows_read or apply.batches -%}
    {%- do versioned_collapsing.record_apply(target_relation, apply, dict(progress, counts=counts), 'applied') -%}
  {%- endif -%}
  {%- do versioned_collapsing.drop_staged(target_relation) -%}
  {%- do return(counts) -%}
{% endmacro %}
