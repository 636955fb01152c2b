{# Lines as Debezium's envelopes: `_op`, `_before` and `_after` with their values as text, `_source` and `_transaction`
   with all their fields as text, and `_passed_over`. If all columns of a row are read, the row is a map, which shows
   which fields it has. If only the columns in `before` are read of the row before, its other fields are ignored. If
   Debezium's converter sends a schema, it puts the envelope into `payload`. A row without an envelope may have a column
   of that name too, and then has a key beside it. #}
{% macro get_envelopes_sql(lines, key, before, columns, encodings, unavailable, tables=[], envelope_only=false) -%}
  {%- set fields = ['op', 'before', 'after', 'source', 'transaction'] -%}
  {%- set reads_all_before = before | length == columns | length -%}
  {%- set envelope = 'op: string, before: '
      ~ ('map<string, string>' if reads_all_before else 'struct<' ~ versioned_collapsing.get_text_fields(before) ~ '>')
      ~ ', after: map<string, string>, source: map<string, string>, transaction: map<string, string>' -%}
  {%- set row_fields = [] -%}
  {%- for name in key if name | lower not in fields + ['payload'] -%}
    {%- do row_fields.append(name) -%}
  {%- endfor -%}
  {%- set object = 'struct<' ~ envelope ~ ', payload: struct<' ~ envelope ~ '>'
      ~ (', ' ~ versioned_collapsing.get_text_fields(row_fields) if row_fields else '') ~ ', _dbt_end: string>' -%}
  {%- set paths = {} -%}
  {%- for name in versioned_collapsing.get_exact_columns(columns) -%}
    {%- set rows = (['before'] if name in before else []) + ['after'] -%}
    {%- do paths.update({name: versioned_collapsing._get_field_paths(rows, name)}) -%}
  {%- endfor -%}
  {%- set is_wrapped = [] -%}
  {%- for name in ['op', 'before', 'after'] + row_fields -%}
    {%- do is_wrapped.append('_value.' ~ name ~ ' is null') -%}
  {%- endfor -%}
  select
    *,
    {{ versioned_collapsing._get_passed_over_sql(columns, tables) }} as _passed_over
  from (
    select
      *,
      {%- for field in fields %}
      if(_is_wrapped, _value.payload.{{ field }}, _value.{{ field }}) as _{{ field }}{{ ',' if not loop.last }}
      {%- endfor %}
    from (
      select *, {{ is_wrapped | join(' and ') }} as _is_wrapped
      from (
        {{ versioned_collapsing.get_parsed_lines_sql(
            versioned_collapsing.get_event_lines_sql(lines, columns, encodings, unavailable, envelope_only),
            object, paths, '_json_text',
        ) }}
      )
    )
  )
{%- endmacro %}


{# The paths to a column in these rows of an envelope, with and without `payload`. #}
{% macro _get_field_paths(rows, name) %}
  {%- set paths = [] -%}
  {%- for row in rows -%}
    {%- do paths.extend([
        versioned_collapsing.get_field_sql('.' ~ row, name),
        versioned_collapsing.get_field_sql('.payload.' ~ row, name),
    ]) -%}
  {%- endfor -%}
  {%- do return(paths) -%}
{% endmacro %}
