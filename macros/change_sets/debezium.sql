{# Parses Debezium's change events of PostgreSQL or MySQL, one JSON value a line, with or without the schema around
   it, into one row a line; see get_typed_lines_sql.

   A truncate has `_is_truncate`, a version and no key. An update that changes the key has the old one in `_key_before`:
   the change set deletes its row. Columns of `toasted` may hold the placeholder of a value that PostgreSQL did not
   send: they are named in `_unset`, and keep what is stored. Blank lines and null (Kafka's tombstones), which say
   nothing, and messages that are `_ignored`, have neither a version nor a reason. #}
{% macro parse_debezium(
    source, key, columns, required=[], version=none, servers=[], epochs=[], encodings={}, ranges={}, toasted=[],
    missing_fields='refuse', unavailable_value='__debezium_unavailable_value', table=none,
    envelope_only=false
) -%}
  {%- set tables = [table] if table is string else table or [] -%}
  {%- do versioned_collapsing.validate_parsing(
      source, key, columns, required, encodings, ranges,
      versioned_collapsing.get_clamp_problems(key, columns, version, ranges)
      + versioned_collapsing.get_debezium_version_option_problems(columns, version, servers, epochs)
      + versioned_collapsing.get_table_problems(tables)
      + versioned_collapsing.get_toasted_problems(columns, toasted)
      + versioned_collapsing.get_binary_problems(columns, encodings)
      + versioned_collapsing.get_choice_problems({'missing_fields': (missing_fields, ('refuse', 'keep', 'null'))}),
  ) -%}
  {%- do versioned_collapsing.warn_of_races(model, version) -%}
  {%- set columns = versioned_collapsing.get_type_names(columns) -%}
  {%- set places = versioned_collapsing.get_places(key, columns, version) -%}
  {%- set payload = columns | reject('in', places) | list -%}
  {%- set fields = {} -%}
  {%- for name in columns -%}
    {%- set after = "_after['" ~ name ~ "']" -%}
    {%- set place = "case _op when 'd' then _before['" ~ name ~ "'] when 't' then null else " ~ after ~ ' end' -%}
    {%- do fields.update({name: place if name in places else after}) -%}
  {%- endfor -%}
  {%- set control = {
      '_is_deleted': "_op = 'd'",
      '_is_truncate': "_op = 't'",
      '_key_before': '_key_before',
      '_missing_fields': '_missing_fields',
      '_ignored': '_ignored',
  } -%}
  {%- if version is none or version not in columns -%}
    {%- do control.update({'_event_ms': versioned_collapsing.get_event_time_sql(version)}) -%}
  {%- endif -%}
  {%- if version in (none, 'source.sequence', 'source.lsn_despite_races') -%}
    {%- do control.update({
        '_first_lsn': versioned_collapsing.get_first_transaction_lsn_sql(),
        '_snapshot_lsn': versioned_collapsing.get_initial_snapshot_lsn_sql(),
    }) -%}
  {%- endif -%}
  {%- if not tables -%}
    {%- do control.update({'_table': versioned_collapsing.get_source_table_sql()}) -%}
  {%- endif -%}
  {%- if toasted or missing_fields == 'keep' -%}
    {%- do control.update({'_unset': versioned_collapsing.get_unset_sql(toasted, missing_fields == 'keep')}) -%}
  {%- endif -%}
  {%- set lines = versioned_collapsing.get_lines_sql(source, versioned_collapsing.read_has_landed(source)) -%}
  with images as (
    {{ versioned_collapsing.get_envelopes_sql(
        lines, key, places, columns, encodings, unavailable_value, tables, envelope_only
    ) }}
  ),
  typed as (
    select
      *,
      {{ versioned_collapsing.get_key_before_sql(key, columns, encodings) }} as _key_before,
      if(
        _op in ('c', 'r', 'u'),
        {{ versioned_collapsing.get_missing_fields_sql(payload, '_after') }},
        null
      ) as _missing_fields
    from (
      {{ versioned_collapsing.get_typed_columns_sql(
          'images',
          versioned_collapsing.get_path_sql("if(_op = 'd', 'before', 'after')"),
          fields,
          columns,
          encodings,
          toasted,
          unavailable=unavailable_value,
          ranges=ranges,
      ) }}
    )
  )
  {{ versioned_collapsing.get_typed_lines_sql(
      'typed',
      columns,
      '_after',
      "if(_op = 'd', " ~ versioned_collapsing.get_row_names_sql('before') ~ ', map_keys(_after))',
      columns,
      'if(_ignored is null, ' ~ versioned_collapsing.get_debezium_version_sql(version, servers, epochs) ~ ', null)',
      control,
      versioned_collapsing.get_envelope_problems(['c', 'r', 'u', 'd', 't'])
      + ([(versioned_collapsing.get_source_table_sql() ~ ' is null', "'source.table is missing'")] if tables else [])
      + versioned_collapsing.get_debezium_version_problems(version, epochs)
      + [("_op = 't'", 'null')]
      + versioned_collapsing.get_row_problems(
          key, columns, version, "_op = 'd'", required if missing_fields != 'keep' else [], ranges, toasted
      )
      + versioned_collapsing.get_key_before_problems(key, columns, encodings, toasted)
      + versioned_collapsing.get_kept_field_problems(missing_fields, required, places, toasted, '_after', "_op <> 'u'")
      + versioned_collapsing.get_missing_field_problems(missing_fields),
  ) }}
{%- endmacro %}
