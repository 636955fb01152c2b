{# The usable events above the last truncate. Events at or below it get the key of the truncate: they are counted with
   it, and their rows are in no fold. A line is searched for the text of a truncate before it is parsed. #}
{% macro get_events_above_truncate_sql(lines, key, columns) -%}
  {%- set is_below = '(_version <= _truncated_at and not _is_truncate)' -%}
  select
    {%- for name in columns %}
    {%- set value = 'if(' ~ is_below ~ ', null, ' ~ name ~ ')' if name in key
        else '_is_deleted or coalesce(' ~ is_below ~ ', false)' if name == '_is_deleted' else name %}
    {{ value }} as {{ name }},
    {%- endfor %}
    {%- if '_key_before' in columns %}
    _is_left,
    {%- endif %}
    _truncated_at
  from ({{ versioned_collapsing.get_usable_events_sql(lines, key, columns) }})
  cross join (
    select max(_version) as _truncated_at
    from {{ lines.relation }}
    where _reason is null
      and {{ lines.is_taken }}
      and _is_truncate{{ ' and _raw_line like \'%"t"%\'' if not lines.is_parsed }}
  )
{%- endmacro %}
