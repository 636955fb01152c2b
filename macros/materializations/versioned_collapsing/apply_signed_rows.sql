{# With `old_state: stream`, the change set already holds the state and cancel rows. Nothing is looked up: the rows are
   staged and published as they are. #}
{% macro apply_signed_rows(target_relation, options, columns, sql, truncate, apply) %}
  {%- do versioned_collapsing.warn_of_a_stream_without_batches(target_relation, apply) -%}
  {%- set found = versioned_collapsing.read_signed_rows(options, columns, sql, apply) -%}
  {%- do versioned_collapsing.validate_rows_fit(target_relation, options, found.rejected, apply) -%}
  {%- set progress = dict(versioned_collapsing.get_initial_progress(), truncated_at=truncate.at) -%}
  {%- if not found.rows_read -%}
    {%- do return(versioned_collapsing.record_empty_change_set(target_relation, columns, {}, progress, apply)) -%}
  {%- endif -%}
  {%- set apply = dict(apply, staged=versioned_collapsing.read_staged_tables(target_relation)) -%}
  {%- do versioned_collapsing.stage_signed_rows(target_relation, options, columns, sql, apply) -%}
  {%- set counts = dict(
      versioned_collapsing.read_signed_row_counts(target_relation, options), has_writes=true
  ) -%}
  {%- do versioned_collapsing.publish_and_record(
      target_relation, options, columns, dict(progress, counts=counts), apply
  ) -%}
  {%- do versioned_collapsing.drop_staged(target_relation, ['signed']) -%}
  {%- do return(counts) -%}
{% endmacro %}
