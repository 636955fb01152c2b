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


{# Each line with `_value`, the one JSON object on it, and `_is_json`. A generator is a fence to the optimizer: without
   it, each use of a field would parse the line again. #}
{% macro get_parsed_lines_sql(source, fields) -%}
  select
    lines.*,
    _values[0] as _value,
    {{ versioned_collapsing.get_is_json_sql('_values') }} as _is_json
  from (
    select *, {{ versioned_collapsing.get_json_line_sql('_raw_line') }} as _json_line
    from ({{ versioned_collapsing.get_lines_sql(source) }})
  ) as lines
  lateral view explode(array(
    {{ versioned_collapsing.get_json_values_sql('_json_line', fields) }}
  )) as _values
{%- endmacro %}


{# These fields, each as the text of its value. #}
{% macro get_text_fields(names) %}
  {%- do return(names | join(': string, ') ~ ': string') -%}
{% endmacro %}


{# The columns of an image as text, `_text_<name>`, and in the declared types. `fields` has the expressions of the
   fields, `path` the names that lead to their object. A second fence, for the same reason: each type is cast to once, and
   not again for what is checked of it. #}
{% macro get_typed_columns_sql(
    images, path, fields, columns, encodings, toasted=[], prefix='', unavailable='__debezium_unavailable_value'
) -%}
  {%- set members = '_members' ~ prefix -%}
  select *
  from (
    select
      *,
      array({{ versioned_collapsing.get_placeholders_sql(unavailable) }}) as _placeholders{{ prefix }},
      {%- for name, type in columns.items() %}
      {{ versioned_collapsing.get_text_sql(
          versioned_collapsing.get_field_text_sql(fields[name], name, type, encodings.get(name), members),
          type,
          encodings.get(name),
          name in toasted,
          unavailable,
      ) }} as _text_{{ prefix ~ name }}{{ ',' if not loop.last }}
      {%- endfor %}
    from ({{ versioned_collapsing._get_images_with_members_sql(images, path, fields, columns, encodings, members) }})
  )
  lateral view inline(array(struct(
    {%- for name, type in columns.items() %}
    {{ versioned_collapsing.get_typed_sql('_text_' ~ prefix ~ name, type, encodings.get(name)) }}{{ ',' if not loop.last }}
    {%- endfor %}
  ))) as {{ prefix }}{{ columns | join(', ' ~ prefix) }}
{%- endmacro %}


{# The images, with the members of those that have a nested value in a column of text. #}
{% macro _get_images_with_members_sql(images, path, fields, columns, encodings, members) -%}
  {%- set nested = [] -%}
  {%- for name, type in columns.items() if versioned_collapsing.is_text(type, encodings.get(name)) -%}
    {%- do nested.append(versioned_collapsing.get_is_nested_sql(fields[name])) -%}
  {%- endfor -%}
  select *
  from {{ images }}
  lateral view explode(array(
    {{ 'if(' ~ nested | join(' or ') ~ ', ' ~ versioned_collapsing.get_members_sql('_json_line', path) ~ ', null)' if nested
       else 'cast(null as map<string, string>)' }}
  )) as {{ members }}
{%- endmacro %}


{# A field as text; a nested value as it stands on the line. #}
{% macro get_field_text_sql(field, name, type, encoding, members) %}
  {%- do return(
      'if(' ~ field ~ ' is null, null, coalesce(nullif(' ~ members ~ "['" ~ name ~ "'], ''), " ~ field ~ '))'
      if versioned_collapsing.is_text(type, encoding) else field
  ) -%}
{% endmacro %}


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
      when not _is_json and {{ versioned_collapsing.get_is_blank_sql('_raw_line') }} then null
      when not is_valid_utf8(_raw_line) then 'invalid UTF-8'
      when not _is_json then {{ versioned_collapsing._get_json_problem_sql() }}
      when _members['"'] is not null then 'row nests deeper than 20 levels or names a field twice'
      when {{ versioned_collapsing.get_has_lone_surrogate_sql('_raw_line') }} then 'half of a surrogate pair'
      {%- for problem in problems %}
      when {{ problem.condition }} then {{ problem.reason }}
      {%- endfor %}
    end as _reason
  from (select *, {{ version }} as _version from {{ typed }})
{%- endmacro %}


{# Whether a line says nothing: a blank one, or Kafka's tombstone. #}
{% macro get_is_blank_sql(line) %}
  {%- do return(line ~ " rlike r'^[\\s\\uFEFF]*+(?:null)?[\\s\\uFEFF]*+$'") -%}
{% endmacro %}


{# Whether a line says nothing, or is a tombstone of Kafka's with Debezium's schema around it. #}
{% macro get_says_nothing_sql(line) -%}
  {%- set json = versioned_collapsing.get_json_line_sql(line) -%}
  ({{ versioned_collapsing.get_is_blank_sql(line) }} or (
    array_contains(json_object_keys({{ json }}), 'payload')
    and size(array_except(json_object_keys({{ json }}), array('schema', 'payload'))) = 0
    and get_json_object({{ json }}, '$.payload') is null
  ))
{%- endmacro %}


{# A line that no column is read of may nest as deep as it likes. #}
{% macro _get_json_problem_sql() -%}
  if(
    exists(
      array({{ versioned_collapsing.get_json_values_sql('_json_line', '', 2147483647) }}),
      _values -> {{ versioned_collapsing.get_is_json_sql('_values') }}
    ),
    'nests deeper than 900 levels',
    'malformed JSON'
  )
{%- endmacro %}


{% macro _text_array(names) %}
  {%- do return("array('" ~ names | join("', '") ~ "')") -%}
{% endmacro %}
