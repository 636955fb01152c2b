{# Parses Debezium's change events for signed rows: like parse_debezium, with the row before the change in `_before`.
   Both images must be complete, and their version is a column, because an event has one log position but two rows. #}
{% macro parse_debezium_images(
    source, key, columns, version, required=[], encodings={}, ranges={}, missing_fields='refuse',
    unavailable_value='__debezium_unavailable_value'
) -%}
  {%- do versioned_collapsing.validate_parsing(
      key, columns, required, encodings, ranges,
      versioned_collapsing.get_version_column_problems(columns, version)
      + versioned_collapsing.get_clamp_problems(key, columns, version, ranges)
      + versioned_collapsing.get_binary_problems(columns, encodings)
      + versioned_collapsing.get_choice_problems({'missing_fields': (missing_fields, ('refuse', 'null'))}),
  ) -%}
  {%- set columns = versioned_collapsing.get_type_names(columns) -%}
  {%- set image = "if(_op = 'd', _before, _after)" -%}
  {%- set payload = columns | reject('in', versioned_collapsing.get_places(key, columns, version)) | list -%}
  {%- set after = {} -%}
  {%- set before = {} -%}
  {%- for name in columns -%}
    {%- do after.update({name: image ~ "['" ~ name ~ "']"}) -%}
    {%- do before.update({name: "_before['" ~ name ~ "']"}) -%}
  {%- endfor -%}
  {%- set lines = versioned_collapsing.get_lines_sql(source, versioned_collapsing.read_has_landed(source)) -%}
  {%- set lines = '/* lines */ ' ~ lines ~ ' /* end of lines */' -%}
  /* all lines */
  with images as (
    {{ versioned_collapsing.get_envelopes_sql(lines, key, columns, columns, encodings, unavailable_value) }}
  ),
  after_typed as (
    {{ versioned_collapsing.get_typed_columns_sql(
        'images', versioned_collapsing.get_path_sql("if(_op = 'd', 'before', 'after')"), after, columns, encodings,
        unavailable=unavailable_value, ranges=ranges,
    ) }}
  ),
  typed as (
    select
      *,
      if(
        _op is not null and _ignored is null,
        {{ versioned_collapsing.get_missing_fields_sql(payload, image) }},
        null
      ) as _missing_fields,
      if(_op = 'u', {{ versioned_collapsing.get_missing_fields_sql(
          payload, '_before', '_before_'
      ) }}, null) as _missing_fields_before
    from (
      {{ versioned_collapsing.get_typed_columns_sql(
          'after_typed', versioned_collapsing.get_path_sql("'before'"), before, columns, encodings,
          prefix='_before_', unavailable=unavailable_value, ranges=ranges,
      ) }}
    )
  )
  {{ versioned_collapsing.get_typed_lines_sql(
      'typed',
      columns,
      image,
      'map_keys(' ~ image ~ ')',
      columns,
      'if(_ignored is null, ' ~ version ~ ', null)',
      {
          '_is_deleted': "_op = 'd'",
          '_before': "if(_op in ('u', 'd'), struct("
              ~ versioned_collapsing.get_texts('_before_{} as {}', columns) | join(', ') ~ '), null)',
          '_before_version': '_before_' ~ version,
          '_missing_fields': '_missing_fields',
          '_ignored': '_ignored',
      },
      versioned_collapsing.get_envelope_problems(['c', 'r', 'u', 'd'])
      + [versioned_collapsing.get_missing_version_problem(version)]
      + versioned_collapsing.get_row_problems(key, columns, version, 'false', required, ranges)
      + versioned_collapsing.get_missing_field_problems(missing_fields)
      + versioned_collapsing.get_row_before_problems(key, columns, version, required, ranges)
      + versioned_collapsing.get_missing_field_problems(missing_fields, '_missing_fields_before', 'before.'),
  ) }}
  /* end of all lines */
{%- endmacro %}

{# Why the row before an update cannot be cancelled. The row before a delete needs no check here, because it is the
   image that is checked anyway. #}
{% macro get_row_before_problems(key, columns, version, required, ranges) %}
  {%- set payload = columns | reject('equalto', version) | list -%}
  {%- set problems = [
      ("_op <> 'u'", 'null'),
      ('_before is null', "'before image is missing'"),
      ("_members_before_['\"'] is not null", "'row before nests deeper than 20 levels or names a field twice'"),
      ('_text__before_' ~ version ~ ' is null', "'before.version " ~ version ~ " is null'"),
  ] + versioned_collapsing.get_payload_problems(columns, [], required, ranges, [], '_before_', 'before.') -%}
  {%- for name in key -%}
    {%- do problems.append(('not (_before_' ~ name ~ ' <=> ' ~ name ~ ')', "'key " ~ name ~ " changes'")) -%}
  {%- endfor -%}
  {%- do return(problems + [(
      '_before_' ~ version ~ ' > ' ~ version ~ ' or (_before_' ~ version ~ ' = ' ~ version
          ~ ' and not (struct(_before_' ~ payload | join(', _before_') ~ ') <=> struct(' ~ payload | join(', ') ~ ')))',
      "'version " ~ version ~ " does not grow'",
  )]) -%}
{% endmacro %}
