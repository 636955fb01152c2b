{# Lines as Debezium's envelopes: `_op`, `_before` and `_after`, of which these columns are read, as
   text, what the version is made of, and `_passed_over`. Debezium's converter puts an envelope into `payload` when it
   sends its schema. A row may have a column of that name too, and has then a key beside it. #}
{% macro get_envelopes_sql(lines, version, key, before, after, exact) -%}
  {%- set fields = ['op', 'before', 'after'] + versioned_collapsing.get_debezium_version_fields(version) -%}
  {%- set envelope = 'op: string'
      ~ ', before: struct<' ~ versioned_collapsing.get_text_fields(before) ~ '>'
      ~ ', after: struct<' ~ versioned_collapsing.get_text_fields(after) ~ '>'
      ~ versioned_collapsing.get_debezium_version_type(version) -%}
  {%- set row_fields = [] -%}
  {%- for name in key if name | lower not in ('op', 'before', 'after', 'source', 'transaction', 'payload') -%}
    {%- do row_fields.append(name) -%}
  {%- endfor -%}
  {%- set object = envelope ~ ', payload: struct<' ~ envelope ~ '>'
      ~ (', ' ~ versioned_collapsing.get_text_fields(row_fields) if row_fields else '') -%}
  {%- set paths = {} -%}
  {%- for name in exact -%}
    {%- set rows = (['before'] if name in before else []) + (['after'] if name in after else []) -%}
    {%- do paths.update({name: versioned_collapsing._get_field_paths(rows, name)}) -%}
  {%- endfor -%}
  {%- set is_wrapped = [] -%}
  {%- for name in ['op', 'before', 'after'] + row_fields -%}
    {%- do is_wrapped.append('_value.' ~ name ~ ' is null') -%}
  {%- endfor -%}
  select
    *,
    {{ versioned_collapsing._get_passed_over_sql(after) }} as _passed_over
  from (
    select
      *,
      {%- for field in fields %}
      if(_is_wrapped, _value.payload.{{ field }}, _value.{{ field }})
        as _{{ field | replace('.', '_') }}{{ ',' if not loop.last }}
      {%- endfor %}
    from (
      select *, {{ is_wrapped | join(' and ') }} as _is_wrapped
      from (
        {{ versioned_collapsing.get_parsed_lines_sql(lines, object, paths) }}
      )
    )
  )
{%- endmacro %}


{# The paths to a column in these rows of an envelope, in a payload or not. #}
{% macro _get_field_paths(rows, name) %}
  {%- set paths = [] -%}
  {%- for row in rows -%}
    {%- do paths.extend([row ~ '.' ~ name, 'payload.' ~ row ~ '.' ~ name]) -%}
  {%- endfor -%}
  {%- do return(paths) -%}
{% endmacro %}
