{# The lines of the batches, and the events among them that are to be accounted for. A change set that does not say what
   it has left out of them, and one that is a part, can be told of only by its rows. #}
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
