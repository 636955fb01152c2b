{# Writes the remaining blocks. From then on, the apply is completed like one whose rows were attached. #}
{% macro complete_journal(target_relation, options, columns, counts, progress, apply) %}
  {%- set all = dict(counts, has_writes=true, has_deletes=true) -%}
  {%- do versioned_collapsing.publish_staged_rows(
      target_relation, options, columns, dict(progress, counts=all), apply
  ) -%}
  {%- do versioned_collapsing.record_apply(
      target_relation, apply, dict(progress, is_journal=false, block=0, counts=counts), 'started'
  ) -%}
{% endmacro %}
