{# The number of lines of each batch in the inputs: all lines, lines that say nothing, lines that cannot be used,
   messages that are passed over, and events. Each kind has a condition of its own, so a line that is of no kind shows
   in the sum. None for a count that an input cannot tell. #}
{% macro count_lines(inputs, taken, known={}) %}
  {%- set counts = {} -%}
  {%- for input in inputs -%}
    {%- set conditions = versioned_collapsing.get_line_conditions(
        input.columns + (['_is_blank'] if input.parsed else [])
    ) -%}
    {%- set query -%}
      select
        _batch as batch,
        count(*) as lines
        {%- for name, condition in conditions.items() %},
        {{ 'count_if(' ~ condition ~ ')' if condition else 'cast(null as bigint)' }} as {{ name }}
        {%- endfor %}
        {%- if '_table' in input.columns %},
        array_join(array_sort(collect_set(if(_reason is null, _table, null))), ', ') as tables
        {%- endif %}
        {%- if '_passed_over' in input.columns %},
        array_join(array_sort(collect_set(
          if(_passed_over like 'table %', substr(_passed_over, 7), null)
        )), ', ') as others
        {%- endif %}
        {%- if '_event_ms' in input.columns %},
        {{ versioned_collapsing._get_positions_sql(known.get(input.name, {})) }}
        {%- endif %}
      from {{ input.parsed or input.relation }}
      where _batch in ({{ taken | join(', ') }})
      group by _batch
    {%- endset -%}
    {%- set found = {} -%}
    {%- for row in run_query(query).rows -%}
      {%- do found.update({row['batch'] | int: row}) -%}
    {%- endfor -%}
    {%- do input.update({'lines': {}, 'tables': [], 'others': [], 'found': found}) -%}
    {%- for row in found.values() -%}
      {%- for name in ('tables', 'others') if row.get(name) -%}
        {%- do input[name].extend(row[name].split(', ')) -%}
      {%- endfor -%}
    {%- endfor -%}
    {%- for batch in taken -%}
      {%- set total = counts.setdefault(batch, dict.fromkeys(versioned_collapsing.get_line_count_names(), 0)) -%}
      {%- for name in total if batch in found -%}
        {%- set count = found[batch][name] -%}
        {%- do total.update({name: none if count is none or total[name] is none else total[name] + count | int}) -%}
      {%- endfor -%}
      {%- do input.lines.update({batch: found[batch]['lines'] | int if batch in found else 0}) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(counts) -%}
{% endmacro %}


{# Of a batch: its highest position, the times of its oldest and newest event, and how many events are newer than all
   that is known and have a lower position. #}
{% macro _get_positions_sql(known) -%}
  max(if(_reason is null and _event_ms is not null, _version, null)) as highest,
  min(if(_reason is null, _event_ms, null)) as oldest,
  max(if(_reason is null, _event_ms, null)) as newest,
  count_if(_reason is null and _event_ms is not null) as timed,
  {% if known.get('newest') is not none and known.get('newest') -%}
  count_if(_reason is null and _event_ms > {{ known.newest }} and _version < '{{ known.highest }}') as lower
  {%- else -%}
  0 as lower
  {%- endif %}
{%- endmacro %}
