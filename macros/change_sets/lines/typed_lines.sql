{# One row per line: the columns in the declared types, `_version`, the columns of `control` (expressions by name),
   where the line was read, and `_reason`: why the line cannot be used, null if it can. `row` is the map of the row's
   values, `names` the names of its fields. #}
{% macro get_typed_lines_sql(typed, columns, row, names, known_fields, version, control, problems) -%}
  select
    {%- for name in columns %}
    {{ name }},
    {%- endfor %}
    _version,
    {%- for name, expression in control.items() %}
    {{ expression }} as {{ name }},
    {%- endfor %}
    array_except(
      if(_is_json, {{ names }}, null),
      {{ versioned_collapsing.get_text_array_sql(known_fields) }}
    ) as _unknown_fields,
    _batch,
    _file,
    _block_start,
    _raw_line,
    case
      when not _is_json and {{ versioned_collapsing.get_is_blank_sql('_json_line') }} then null
      when not is_valid_utf8(_raw_line) then 'invalid UTF-8'
      when not _is_json then {{ versioned_collapsing._get_json_problem_sql() }}
      when _members['"'] is not null or size(array_distinct(map_keys({{ row }}))) < size({{ row }})
        then 'row nests deeper than 20 levels or names a field twice'
      when {{ versioned_collapsing.get_has_lone_surrogate_sql('_raw_line') }} then 'half of a surrogate pair'
      {%- for problem in problems %}
      when {{ problem.condition }} then {{ problem.reason }}
      {%- endfor %}
    end as _reason
  from (select *, {{ version }} as _version from {{ typed }})
{%- endmacro %}


{# The reason for a line that was not read as JSON. This check reads no column, so the line may nest to any depth. #}
{% macro _get_json_problem_sql() -%}
  {%- set quoted = versioned_collapsing.get_quoted_numbers_sql('_json_line') -%}
  if(
    exists(
      array({{ versioned_collapsing.get_json_values_sql(quoted, 'struct<_dbt_end: string>', 2147483647) }}),
      _values -> {{ versioned_collapsing.get_is_json_sql('_values') }}
    ),
    'nests deeper than 900 levels',
    'malformed JSON'
  )
{%- endmacro %}
