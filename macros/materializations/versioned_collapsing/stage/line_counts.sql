{# The lines of the batches, and the events to account for. If the change set does not count the events that it has left
   out, or if it is only a part, the events are counted from its rows. #}
{% macro get_line_counts(apply, columns, carried) %}
  {%- set needed = ['_duplicates', '_conflicts', '_superseded'] -%}
  {%- set is_told = not apply.is_partial and needed | reject('in', columns.given) | list == [] -%}
  {%- if is_told and apply.manifest_counts.get('events') is not none -%}
    {%- do return(apply.manifest_counts) -%}
  {%- endif -%}
  {%- do return({
      'events':
          carried.rows_read + carried._duplicates + carried._conflicts + carried._superseded - carried._derived,
  }) -%}
{% endmacro %}
