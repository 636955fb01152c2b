{# Parses rows that replace each other, one JSON object per line. The row with the highest `version` is the current row;
   if `version` is `_batch`, the row of the highest batch. `is_deleted` names the field that is true when the row is
   gone, if there is one. #}
{% macro parse_upserts(
    source, key, columns, version, is_deleted=none, required=[], encodings={}, ranges={}, missing_fields='refuse',
    unavailable_value='__debezium_unavailable_value'
) -%}
  {%- do versioned_collapsing.validate_parsing(
      source, key, columns, required, encodings, ranges,
      versioned_collapsing.get_name_problems({'version': version, 'is_deleted': is_deleted})
      + ([] if version == '_batch' or version is not string
          else versioned_collapsing.get_version_column_problems(columns, version))
      + versioned_collapsing.get_missing_fields_option_problems(missing_fields),
  ) -%}
  {%- set columns = versioned_collapsing.get_type_names(columns) -%}
  {%- set flag = versioned_collapsing.get_field_sql('_value', is_deleted) -%}
  {%- set deletes = 'coalesce(try_cast(' ~ flag ~ ' as boolean), false)' if is_deleted else 'false' -%}
  {%- set flag_problems = [{
      'condition': flag ~ ' is not null and try_cast(' ~ flag ~ ' as boolean) is null',
      'reason': "'" ~ is_deleted ~ " does not fit boolean'",
  }] if is_deleted else [] -%}
  {%- set known_fields = (columns | list) + ([is_deleted] if is_deleted and is_deleted not in columns else []) -%}
  {%- set places = versioned_collapsing.get_places(key, columns, version) -%}
  {%- set payload = columns | reject('in', places) | list -%}
  {%- set fields = {} -%}
  {%- for name in columns -%}
    {%- do fields.update({name: versioned_collapsing.get_field_sql('_value', name)}) -%}
  {%- endfor -%}
  {%- set control = {
      '_is_deleted': deletes,
      '_missing_fields': '_missing_fields',
      '_passed_over': 'cast(null as string)',
  } -%}
  {%- if missing_fields == 'keep' -%}
    {%- do control.update({'_unset': 'if(' ~ deletes ~ ', cast(array() as array<string>), _missing_fields)'}) -%}
  {%- endif -%}
  {%- set lines = versioned_collapsing.get_lines_sql(
      source, versioned_collapsing.read_has_landed(source.location)
  ) -%}
  {%- set exact = {} -%}
  {%- for name in versioned_collapsing.get_exact_columns(columns) + ([is_deleted] if is_deleted else []) -%}
    {%- do exact.update({name: [versioned_collapsing.get_field_sql('', name)]}) -%}
  {%- endfor -%}
  with images as (
    {{ versioned_collapsing.get_parsed_lines_sql(lines, 'map<string, string>', exact) }}
  ),
  typed as (
    select
      *,
      if(
        _is_json and not {{ deletes }},
        {{ versioned_collapsing.get_missing_fields_sql(payload, '_value') }},
        null
      ) as _missing_fields
    from (
      {{ versioned_collapsing.get_typed_columns_sql(
          'images', "array('')", fields, columns, encodings, unavailable=unavailable_value
      ) }}
    )
  )
  {{ versioned_collapsing.get_typed_lines_sql(
      'typed',
      columns,
      '_value',
      'map_keys(_value)',
      known_fields,
      'if(_is_json, ' ~ version ~ ', null)',
      control,
      ([] if version == '_batch' else [versioned_collapsing.get_missing_version_problem(version)])
      + flag_problems
      + versioned_collapsing.get_row_problems(
          key, columns, version, deletes, required if missing_fields != 'keep' else [], ranges
      )
      + versioned_collapsing.get_kept_field_problems(missing_fields, required, places, [], '_value', 'false')
      + versioned_collapsing.get_missing_field_problems(missing_fields),
  ) }}
{%- endmacro %}
