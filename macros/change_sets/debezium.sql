{# Parses Debezium's change events of PostgreSQL or MySQL, one JSON value a line, with or without the schema around
   it, into one row a line; see get_typed_lines_sql.

   A truncate has `_is_truncate`, a version and no key. An update that changes the key has the old one in `_key_before`:
   the change set deletes its row. Columns of `toasted` may hold the placeholder of a value that PostgreSQL did not
   send: they are named in `_unset`, and keep what is stored. Blank lines and null (Kafka's tombstones), which say
   nothing, and messages that are `_ignored`, have neither a version nor a reason. #}
{% macro parse_debezium(
    source, key, columns, required=[], version=none, servers=[], epochs=[], encodings={}, ranges={}, toasted=[],
    missing_fields='refuse', unavailable_value='__debezium_unavailable_value', table=none
) -%}
  {%- set tables = [table] if table is string else table or [] -%}
  {%- do versioned_collapsing.validate_parsing(
      key, columns, required, encodings, ranges,
      versioned_collapsing.get_clamp_problems(key, columns, version, ranges)
      + versioned_collapsing.get_debezium_version_option_problems(columns, version, servers, epochs)
      + versioned_collapsing._get_table_name_problems(tables)
      + versioned_collapsing._get_toasted_problems(columns, toasted)
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
    {%- do control.update({'_unset': versioned_collapsing._get_unset_sql(toasted, missing_fields == 'keep')}) -%}
  {%- endif -%}
  {%- set lines = versioned_collapsing.get_lines_sql(source, versioned_collapsing.read_has_landed(source)) -%}
  {%- set lines = '/* lines */ ' ~ lines ~ ' /* end of lines */' -%}
  /* all lines */
  {{ versioned_collapsing.get_template_comment({
      'key': key, 'columns': columns, 'required': required, 'version': version, 'servers': servers, 'epochs': epochs,
      'encodings': encodings, 'ranges': ranges, 'toasted': toasted, 'unavailable_value': unavailable_value,
      'tables': tables,
  }) }}
  with images as (
    {{ versioned_collapsing.get_envelopes_sql(
        lines, key, places, columns, encodings, unavailable_value, tables
    ) }}
  ),
  typed as (
    select
      *,
      {{ versioned_collapsing._get_key_before_sql(key, columns, encodings) }} as _key_before,
      if(
        _op in ('c', 'r', 'u'),
        {{ versioned_collapsing.get_missing_fields_sql(payload, '_after') }},
        null
      ) as _missing_fields
      {%- for name, lsn in versioned_collapsing.get_lsn_columns(version).items() %},
      {{ lsn }} as {{ name }}
      {%- endfor %}
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
      "if(_op = 'd', " ~ versioned_collapsing._get_row_names_sql('before') ~ ', map_keys(_after))',
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
      + versioned_collapsing._get_key_before_problems(key, columns, encodings, toasted)
      + versioned_collapsing.get_kept_field_problems(missing_fields, required, places, toasted, '_after', "_op <> 'u'")
      + versioned_collapsing.get_missing_field_problems(missing_fields),
  ) }}
  /* end of all lines */
{%- endmacro %}

{% macro _get_table_name_problems(tables) %}
  {%- set problems = [] -%}
  {%- for table in tables
      if table is not string or not modules.re.match('[^.\\s\'\"]+([.][^.\\s\'\"]+)?$', table) -%}
    {%- do problems.append(
        "table: '" ~ table ~ "' is no name of a table; it takes a name, with or without the schema before it, or a "
        ~ "pattern such as 'shop_*.orders', or a list of these."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}

{% macro _get_toasted_problems(columns, toasted) %}
  {%- set problems = versioned_collapsing.get_list_problems({'toasted': toasted}, ['toasted']) -%}
  {%- do return(problems or versioned_collapsing.get_outside_problems({'toasted': toasted}, columns)) -%}
{% endmacro %}

{# The names of the columns that a line leaves as they are stored: those that PostgreSQL did not send, and those that an
   update omits. #}
{% macro _get_unset_sql(toasted, may_lack) -%}
  {%- set unset = versioned_collapsing.get_texts(
      "if(_text_{} is null and _after['{}'] is not null, '{}', null)", toasted
  ) | join(', ') -%}
  {%- set none_of_them = 'cast(array() as array<string>)' -%}
  {%- set left_out = 'filter(array(' ~ unset ~ '), name -> name is not null)' if unset else none_of_them -%}
  {%- if may_lack -%}
    {%- do return('array_union(' ~ left_out ~ ', coalesce(_missing_fields, ' ~ none_of_them ~ '))') -%}
  {%- endif -%}
  {%- do return(left_out) -%}
{%- endmacro %}

{# The names of the fields of a row, for which the line is read again. The path is a literal, because Spark then parses
   it only once. #}
{% macro _get_row_names_sql(name) -%}
  json_object_keys(if(
    _is_wrapped,
    get_json_object(_json_line, '$.payload.{{ name }}'),
    get_json_object(_json_line, '$.{{ name }}')
  ))
{%- endmacro %}

{# The key that a row had before an update that changes it, as a struct; null for every other line. If the key stays the
   same, PostgreSQL may send the row before without its key, or not at all. That does not count as another key. #}
{% macro _get_key_before_sql(key, columns, encodings) -%}
  {%- set before = [] -%}
  {%- for name in key -%}
    {%- set value = versioned_collapsing._get_before_values(name, columns[name], encodings.get(name)) -%}
    {%- do before.append(value.typed ~ ' as ' ~ name) -%}
  {%- endfor -%}
  if(
    {{ versioned_collapsing._get_key_text_differs_sql(key) }},
    nullif(struct({{ before | join(', ') }}), struct({{ key | join(', ') }})),
    null
  )
{%- endmacro %}

{% macro _get_key_text_differs_sql(key) %}
  {%- set differs = versioned_collapsing.get_texts("coalesce(_before['{}'] <> _after['{}'], false)", key) -%}
  {%- do return("(_op = 'u' and (" ~ differs | join(' or ') ~ '))') -%}
{% endmacro %}

{# A column of the key before the change, as text and in its type. #}
{% macro _get_before_values(name, type, encoding) %}
  {%- set text = versioned_collapsing.get_text_sql("_before['" ~ name ~ "']", type, encoding, false) -%}
  {%- do return({'text': text, 'typed': versioned_collapsing.get_typed_sql(text, type, encoding)}) -%}
{% endmacro %}

{# Why the key before an update cannot be used, as conditions with reasons. If PostgreSQL did not send a value of a row,
   the value cannot be taken from the stored row, because that has another key. #}
{% macro _get_key_before_problems(key, columns, encodings, toasted) %}
  {%- set differs = versioned_collapsing._get_key_text_differs_sql(key) -%}
  {%- set problems = [] -%}
  {%- for name in key -%}
    {%- set value = versioned_collapsing._get_before_values(name, columns[name], encodings.get(name)) -%}
    {%- set misfit = versioned_collapsing.get_misfit_sql(value.text, value.typed, columns[name]) -%}
    {%- do problems.append((
        differs ~ " and _before['" ~ name ~ "'] is null", "'before.key " ~ name ~ " is null'"
    )) -%}
    {%- if misfit -%}
      {%- do problems.append((
          differs ~ ' and ' ~ misfit, "'before." ~ name ~ " does not fit " ~ columns[name] ~ "'"
      )) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name in toasted -%}
    {%- do problems.append((
        '_key_before is not null and _text_' ~ name ~ " is null and _after['" ~ name ~ "'] is not null",
        "'" ~ name ~ " is unavailable'",
    )) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
