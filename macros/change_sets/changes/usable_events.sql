{# The usable events of the batches that this run takes. An update that changes the key becomes two events: the second
   one deletes the row with the old key. #}
{% macro get_usable_events_sql(lines, key, columns) -%}
  {%- if '_key_before' not in columns %}
  select *
  from {{ lines.relation }}
  {%- else %}
  select
    {%- for name in columns %}
    {%- set value = 'if(_is_left, _key_before.' ~ name ~ ', ' ~ name ~ ')' if name in key
        else '_is_left or _is_deleted' if name == '_is_deleted' else name %}
    {{ value }} as {{ name }},
    {%- endfor %}
    _is_left
  from {{ lines.relation }}
  lateral view explode(if(_key_before is null, array(false), array(false, true))) as _is_left
  {%- endif %}
  where _reason is null
    and _version is not null
    and {{ lines.is_taken }}
{%- endmacro %}
