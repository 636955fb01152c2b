{# Writes the blocks that are left. From here on the apply is completed as one that was attached. #}
{% macro complete_journal(target_relation, options, columns, counts, progress, apply) %}
  {%- set all = dict(counts, has_writes=true, has_deletes=true) -%}
  {%- do versioned_collapsing.publish_staged_rows(
      target_relation, options, columns, dict(progress, counts=all), apply
  ) -%}
  {%- do versioned_collapsing.record_apply(
      target_relation, apply, dict(progress, is_journal=false, block=0, counts=counts), 'started'
  ) -%}
{% endmacro %}
