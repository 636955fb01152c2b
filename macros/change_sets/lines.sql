{# Every line of a source, with its file, and where the block of the file begins that Spark read at once. A number of
   the line would have every batch read: Spark does not filter below what it counts. Before the first batch has landed
   there is no column `batch`, and maybe no folder: a view is then made that says so, to be made again. #}
{% macro get_lines_sql(source) -%}
  {%- if versioned_collapsing.is_building() and source.location and not versioned_collapsing.read_location(source.location) -%}
  select
    cast(null as string) as _raw_line,
    cast(null as bigint) as _batch,
    cast(null as string) as _file,
    cast(null as bigint) as _block_start
  from values ({{ versioned_collapsing.get_empty_landing_mark(source.location) }}) as nothing (note)
  where false
  {%- else -%}
  select
    value as _raw_line,
    cast(batch as bigint) as _batch,
    {{ versioned_collapsing._get_file_sql() }} as _file,
    _metadata.file_block_start as _block_start
  from {{ source }}
  {%- endif -%}
{%- endmacro %}


{# Where a file is: the last two folders and its name. Spark has them as in a URL. #}
{% macro _get_file_sql() -%}
  {%- set file = "regexp_extract(_metadata.file_path, '[^/]+/[^/]+/[^/]+$', 0)" -%}
  if(locate('%', _metadata.file_path) > 0, url_decode(replace({{ file }}, '+', '%2B')), {{ file }})
{%- endmacro %}


{# Each line with `_value`, the one JSON object on it, and `_is_json`. Inside brackets, a line with anything before or
   after its object is no JSON; alone, Spark would not look at what follows. A generator is a fence to the optimizer:
   without it, each use of a field would parse the line again. #}
{% macro get_parsed_lines_sql(source, type) -%}
  select
    lines.*,
    _values[0] as _value,
    coalesce(size(_values) = 1 and _values[0] is not null, false) as _is_json
  from ({{ versioned_collapsing.get_lines_sql(source) }}) as lines
  lateral view explode(array(
    from_json(concat('[', _raw_line, ']'), 'array<{{ type }}>')
  )) as _values
{%- endmacro %}


{# The type of an object with these fields, each as the text of its value. #}
{% macro get_text_struct(names) %}
  {%- do return('struct<' ~ names | join(': string, ') ~ ': string>') -%}
{% endmacro %}


{# The columns of an image as text, `_text_<name>`, and in the declared types. `fields` has the expressions of the
   fields. A second fence, for the same reason: each type is cast to once, and not again for what is checked of it. #}
{% macro get_typed_columns_sql(images, fields, columns, encodings, toasted=[], prefix='') -%}
  select *
  from (
    select
      *,
      {%- for name, type in columns.items() %}
      {{ versioned_collapsing.get_text_sql(fields[name], type, encodings.get(name), name in toasted) }} as _text_{{ prefix ~ name }}{{ ',' if not loop.last }}
      {%- endfor %}
    from {{ images }}
  )
  lateral view inline(array(struct(
    {%- for name, type in columns.items() %}
    {{ versioned_collapsing.get_typed_sql('_text_' ~ prefix ~ name, type, encodings.get(name)) }}{{ ',' if not loop.last }}
    {%- endfor %}
  ))) as {{ prefix }}{{ columns | join(', ' ~ prefix) }}
{%- endmacro %}


{# One row a line: the columns in the declared types, `_version`, the columns of `control` (expressions by name),
   where the line was read, and `_reason`: why it cannot be used, null when it can. #}
{% macro get_typed_lines_sql(typed, columns, image, known_fields, version, control, problems) -%}
  select
    {%- for name in columns %}
    {{ name }},
    {%- endfor %}
    _version,
    {%- for name, expression in control.items() %}
    {{ expression }} as {{ name }},
    {%- endfor %}
    array_except(json_object_keys(if(_is_json, {{ image }}, null)), {{ versioned_collapsing._text_array(known_fields) }}) as _unknown_fields,
    _batch,
    _file,
    _block_start,
    _raw_line,
    case
      when trim(_raw_line) in ('', 'null') then null
      when not _is_json then 'malformed JSON'
      {%- for problem in problems %}
      when {{ problem.condition }} then {{ problem.reason }}
      {%- endfor %}
    end as _reason
  from (select *, {{ version }} as _version from {{ typed }})
{%- endmacro %}


{% macro _text_array(names) %}
  {%- do return("array('" ~ names | join("', '") ~ "')") -%}
{% endmacro %}
