{# Parses Debezium change events of PostgreSQL, one JSON value a line.

   Every line comes out as one row: the row image's columns in the declared types, `_version` (the LSN),
   `_is_deleted`, where it was read (`_batch`, `_file`, `_position`), `_raw_line`, and `_reason`: null for a
   usable event, else why it is not; a null in a `required` column is such a reason. Blank lines and Kafka's
   tombstones (null), which say nothing, have neither a version nor a reason. Values are read as text and cast
   one by one, so that what does not fit its type has a reason and does not become null. #}
{% macro parse_debezium(source, key, columns, required=[]) -%}
  {%- set image = versioned_collapsing._struct_of_strings(columns) -%}
  {%- set envelope -%}
    before struct<{{ image }}>, after struct<{{ image }}>, source struct<lsn: string>, op string, _corrupt_record string
  {%- endset -%}
  with lines as (
    select
      value,
      batch,
      _metadata.file_path as file_path,
      _metadata.file_block_start as block_start,
      monotonically_increasing_id() as line_id
    from {{ source }}
  ),
  images as (
    -- A generator is a fence to the optimizer: without it, each use of a field would parse the line again.
    select lines.*, op, source, _corrupt_record, if(op = 'd', before, after) as image
    from lines
    lateral view outer inline(array(
      from_json(value, '{{ envelope }}', map('mode', 'PERMISSIVE', 'columnNameOfCorruptRecord', '_corrupt_record'))
    )) as before, after, source, op, _corrupt_record
  ),
  typed as (
    select
      *,
      {%- for name, type in columns.items() %}
      try_cast(image.{{ name }} as {{ type }}) as {{ name }},
      {%- endfor %}
      try_cast(source.lsn as bigint) as _version
    from images
  )
  select
    {%- for name in columns %}
    {{ name }},
    {%- endfor %}
    _version,
    op = 'd' as _is_deleted,
    cast(batch as bigint) as _batch,
    regexp_extract(file_path, '[^/]+/[^/]+/[^/]+$', 0) as _file,
    struct(block_start, line_id) as _position,
    value as _raw_line,
    case
      when trim(value) in ('', 'null') then null
      when _corrupt_record is not null then 'malformed JSON'
      when op is null then 'op is missing'
      when op not in ('c', 'r', 'u', 'd') then concat('unknown op ', op)
      when image is null then if(op = 'd', 'before image is missing', 'after image is missing')
      when source.lsn is null then 'source.lsn is missing'
      when {{ versioned_collapsing._does_not_fit('source.lsn', '_version', 'bigint') }} then 'source.lsn does not fit bigint'
      {%- for name in key %}
      when image.{{ name }} is null then 'key {{ name }} is null'
      {%- endfor %}
      {%- for name in required %}
      when op <> 'd' and image.{{ name }} is null then '{{ name }} is null'
      {%- endfor %}
      {%- for name, type in columns.items() if type != 'string' %}
      when {{ versioned_collapsing._does_not_fit('image.' ~ name, name, type) }} then '{{ name }} does not fit {{ type }}'
      {%- endfor %}
    end as _reason
  from typed
{%- endmacro %}


{% macro _struct_of_strings(columns) %}
  {%- set fields = [] -%}
  {%- for name in columns -%}
    {%- do fields.append(name ~ ': string') -%}
  {%- endfor -%}
  {%- do return(fields | join(', ')) -%}
{% endmacro %}


{# Whether text was lost in its cast. A cast to an integer drops a fraction, a cast to a decimal digits:
   both are compared as wide decimals. #}
{% macro _does_not_fit(text, typed, type) %}
  {%- set is_number = type.startswith(('decimal', 'tinyint', 'smallint', 'int', 'bigint')) -%}
  {%- set lost = ' or try_cast(' ~ text ~ ' as decimal(38, 18)) <> ' ~ typed if is_number else '' -%}
  {%- do return(text ~ ' is not null and (' ~ typed ~ ' is null' ~ lost ~ ')') -%}
{% endmacro %}
