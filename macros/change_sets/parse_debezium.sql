{# Parses Debezium's change events of PostgreSQL or MySQL, one JSON value a line, with or without the schema around
   it, into one row a line; see get_typed_lines_sql.

   A truncate has `_is_truncate`, a version and no key. Columns of `toasted` may hold the placeholder of a value that
   PostgreSQL did not send: they are named in `_unset`, and keep what is stored. Blank lines and null (Kafka's
   tombstones), which say nothing, have neither a version nor a reason. #}
{% macro parse_debezium(
    source, key, columns, required=[], version='source.lsn', servers=[], encodings={}, ranges={}, toasted=[],
    unavailable_value='__debezium_unavailable_value'
) -%}
  {%- set outside = toasted | reject('in', columns) | list -%}
  {%- do versioned_collapsing.validate_parsing(
      source, key, columns, required, encodings, ranges,
      versioned_collapsing.get_debezium_version_option_problems(columns, version, servers)
      + (["toasted: names " ~ outside ~ ", which columns does not have."] if outside else []),
  ) -%}
  {%- set columns = versioned_collapsing.get_type_names(columns) -%}
  {%- set places = versioned_collapsing.get_places(key, columns, version) -%}
  {%- set fields = {} -%}
  {%- for name in columns -%}
    {%- do fields.update({name: "case _op when 'd' then _before." ~ name ~ " when 't' then null else _after." ~ name ~ ' end' if name in places else '_after.' ~ name}) -%}
  {%- endfor -%}
  {%- set control = {'_is_deleted': "_op = 'd'", '_is_truncate': "_op = 't'"} -%}
  {%- if toasted -%}
    {%- do control.update({'_unset': versioned_collapsing._get_unset_sql(toasted)}) -%}
  {%- endif -%}
  with images as (
    {{ versioned_collapsing.get_envelopes_sql(source, version, places, columns) }}
  ),
  typed as (
    {{ versioned_collapsing.get_typed_columns_sql(
        'images',
        versioned_collapsing.get_path_sql("if(_op = 'd', 'before', 'after')"),
        fields,
        columns,
        encodings,
        toasted,
        unavailable=unavailable_value,
    ) }}
  )
  {{ versioned_collapsing.get_typed_lines_sql(
      'typed',
      columns,
      versioned_collapsing.get_image_json_sql(),
      columns,
      versioned_collapsing.get_debezium_version_sql(version, servers),
      control,
      versioned_collapsing.get_envelope_problems(['c', 'r', 'u', 'd', 't'])
      + versioned_collapsing.get_debezium_version_problems(version)
      + [{'condition': "_op = 't'", 'reason': 'null'}]
      + versioned_collapsing.get_row_problems(
          key, columns, version, "_op = 'd'", required, ranges, toasted
      ),
  ) }}
{%- endmacro %}


{# The names of the columns that a line leaves as they are stored. #}
{% macro _get_unset_sql(toasted) -%}
  filter(
    array(
      {%- for name in toasted %}
      if(_text_{{ name }} is null and _after.{{ name }} is not null, '{{ name }}', null){{ ',' if not loop.last }}
      {%- endfor %}
    ),
    name -> name is not null
  )
{%- endmacro %}
