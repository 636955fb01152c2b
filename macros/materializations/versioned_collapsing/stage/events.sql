{# The lines of the batches, and the events among them that are to be accounted for. A change set that does not say what
   it has left out of them, and one that is a part, can be told of only by its rows. #}
{% macro get_events_of_run(manifest_counts, columns, read, carried, is_partial) %}
  {%- set is_told = not is_partial and '_duplicates' in columns.given and '_conflicts' in columns.given
      and '_superseded' in columns.given -%}
  {%- set counts = dict(manifest_counts or {}) if is_told else {} -%}
  {%- if counts.get('events') is none -%}
    {%- do return({
        'events': read.rows_read + carried._duplicates + carried._conflicts + carried._superseded - carried._derived,
    }) -%}
  {%- endif -%}
  {%- do return(counts) -%}
{% endmacro %}
