{# Stages the change set, decides which rows it requires, publishes them and records the apply. Returns the counts. #}
{% macro apply_change_set(target_relation, options, columns, sql, truncate, apply) %}
  {%- set carried = versioned_collapsing.read_carried_counts(columns, sql, apply) -%}
  {%- set progress = dict(versioned_collapsing.get_initial_progress(), truncated_at=truncate.at) -%}
  {%- if not carried.rows_read -%}
    {%- do return(versioned_collapsing.record_empty_change_set(target_relation, columns, carried, progress, apply)) -%}
  {%- endif -%}
  {%- set apply = dict(apply, staged=versioned_collapsing.read_staged_tables(target_relation)) -%}
  {%- set staged = versioned_collapsing.stage_change_set(target_relation, options, columns, sql, truncate, apply) -%}
  {%- do versioned_collapsing.renew_lock(apply) -%}
  {%- set read = versioned_collapsing.read_change_set_counts(
      options, columns, sql, truncate, staged, carried, apply
  ) -%}
  {%- if apply.is_first and read.counts.conflicts > staged.row_count -%}
    {%- do versioned_collapsing.drop_staged(target_relation) -%}
  {%- endif -%}
  {%- do versioned_collapsing.validate_key_and_version(
      target_relation, options, dict(read.counts, keys=staged.row_count), apply
  ) -%}
  {%- set role = versioned_collapsing.get_change_set_role(options) -%}
  {%- do return(versioned_collapsing.apply_staged_changes(target_relation, options, columns, dict(
      progress, counts=read.counts, line_counts=read.line_counts, source=role, change_count=staged.row_count
  ), apply)) -%}
{% endmacro %}


{# Batches without a change need no rows: a row `applied` in the ledger is enough. #}
{% macro record_empty_change_set(target_relation, columns, carried, progress, apply) %}
  {%- set counts = versioned_collapsing.get_initial_counts({}) -%}
  {%- if apply.batches -%}
    {%- set line_counts = versioned_collapsing.get_line_counts(apply, columns, carried) -%}
    {%- set ended = dict(progress, counts=counts, line_counts=line_counts) -%}
    {%- do versioned_collapsing.record_apply(target_relation, apply, ended, 'applied') -%}
  {%- endif -%}
  {%- do return(counts) -%}
{% endmacro %}
