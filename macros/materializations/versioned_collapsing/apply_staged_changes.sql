{# Decides which rows the staged changes require, publishes them and records the apply. Returns the counts. #}
{% macro apply_staged_changes(target_relation, options, columns, progress, apply) %}
  {%- do versioned_collapsing.prepare_gathered(target_relation, options, columns, progress, apply) -%}
  {%- set counts = versioned_collapsing.decide_chunks(target_relation, options, columns, progress, apply) -%}
  {%- do versioned_collapsing.publish_and_record(
      target_relation, options, columns, dict(progress, chunk=options.chunks, counts=counts), apply
  ) -%}
  {%- do versioned_collapsing.release_staged(target_relation, options, columns, counts) -%}
  {%- do return(counts) -%}
{% endmacro %}
