{# Publishes the difference between the staged changes and what is stored. The staged tables are a snapshot:
   repeating this completes a run that died at any point of it. #}
{% macro publish_staged_changes(target_relation, options, columns, uncollapsed, counts, progress, apply) %}
  {%- if not counts.has_writes -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- if progress.is_journal -%}
    {%- do versioned_collapsing.stage_rows_to_write(target_relation, options, columns, uncollapsed, counts, apply) -%}
    {%- do versioned_collapsing.start_publishing(target_relation, progress, apply) -%}
    {%- do versioned_collapsing.publish_signed_rows(target_relation, options, columns, progress, apply) -%}
  {%- else -%}
    {%- do versioned_collapsing.start_publishing(target_relation, progress, apply) -%}
    {%- do versioned_collapsing.publish_directly(target_relation, options, columns, uncollapsed, counts, apply) -%}
  {%- endif -%}
  {%- do versioned_collapsing.remember_deletes(target_relation, options, uncollapsed, counts, apply) -%}
{% endmacro %}


{# From here on a run that dies is completed. What was counted so far goes with it. #}
{% macro start_publishing(target_relation, progress, apply) %}
  {%- do versioned_collapsing.renew_lock(apply) -%}
  {%- do versioned_collapsing.record_apply(target_relation, apply, progress, 'started') -%}
{% endmacro %}
