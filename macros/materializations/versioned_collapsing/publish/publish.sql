{# Publishes the difference between the staged changes and what is stored. The staged tables are a snapshot:
   repeating this completes a run that died at any point of it. #}
{% macro publish_staged_changes(target, options, columns, run, counts) %}
  {%- if counts.has_writes -%}
    {%- if run.is_journal -%}
      {%- do versioned_collapsing.stage_rows_to_write(target, options, columns, run, counts) -%}
      {%- do versioned_collapsing.start_publishing(target, run) -%}
      {%- do versioned_collapsing.publish_signed_rows(target, options, columns, run) -%}
    {%- else -%}
      {%- do versioned_collapsing.start_publishing(target, run) -%}
      {%- do versioned_collapsing.publish_directly(target, options, columns, run, counts) -%}
    {%- endif -%}
    {%- do versioned_collapsing.remember_deletes(target, options, run, counts) -%}
  {%- endif -%}
{% endmacro %}
