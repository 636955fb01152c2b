{# The counts of the lines of the batches that a run takes. First checks that all lines are there. A run with --empty or
   --sample gets no counts, because its manifest says that the change set is a part. #}
{% macro read_counts(model, inputs, taken) %}
  {%- if not taken or versioned_collapsing.is_partial_run() -%}{%- do return({}) -%}{%- endif -%}
  {%- if model.depends_on.macros | select('equalto', 'macro.versioned_collapsing.quarantined_lines') | list -%}
    {# The lines of a quarantine are counted elsewhere, so it has no counts of its own. #}
    {%- set inputs = inputs | rejectattr('is_view') | list -%}
    {%- do versioned_collapsing.count_lines(inputs, taken) -%}
    {%- do versioned_collapsing.validate_whole_tables(model, inputs, taken) -%}
    {%- do return({}) -%}
  {%- endif -%}
  {%- set counts = versioned_collapsing.count_lines(inputs, taken) -%}
  {%- do versioned_collapsing.validate_whole_tables(model, inputs, taken) -%}
  {%- do versioned_collapsing.report_unusable_lines(model, inputs, counts) -%}
  {%- do return(counts) -%}
{% endmacro %}
