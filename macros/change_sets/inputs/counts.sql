{# The lines of the batches that a run takes, after a look at whether they are all there. A change set that is made of
   a part says so itself. #}
{% macro read_counts(model, inputs, taken) %}
  {%- if not taken or versioned_collapsing.is_partial_run() -%}{%- do return({}) -%}{%- endif -%}
  {%- if model.depends_on.macros | select('equalto', 'macro.versioned_collapsing.quarantined_lines') | list -%}
    {# It is the lines that are counted otherwise. #}
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
