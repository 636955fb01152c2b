{# Stages the change set, compares it with what is stored, publishes the difference and records it. Returns
   the counts. #}
{% macro apply_change_set(target_relation, options, columns, sql, truncate, apply) %}
  {%- set staged = versioned_collapsing.stage_change_set(target_relation, options, columns, sql, truncate, apply) -%}
  {%- do versioned_collapsing.renew_lock(apply) -%}
  {%- set read = versioned_collapsing.read_change_set_counts(options, columns, sql, truncate, staged, apply) -%}
  {%- set progress = dict(
      versioned_collapsing.get_initial_progress(),
      counts=read.counts, line_counts=read.line_counts, truncated_at=truncate.at
  ) -%}
  {%- if options.on_conflict == 'error' and options.chunks > 1 -%}
    {%- do versioned_collapsing.compare_all_chunks(target_relation, options, columns, progress, apply) -%}
  {%- endif -%}
  {%- set prepared = versioned_collapsing.prepare_publishing(target_relation, options, apply) -%}
  {%- do return(versioned_collapsing.apply_chunks(
      target_relation, options, columns, staged.row_count, dict(progress, **prepared), apply
  )) -%}
{% endmacro %}
