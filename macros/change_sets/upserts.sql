{# Parses rows that replace each other, one JSON object per line, or the rows of Parquet files. The row with the highest
   `version` is the current row; if `version` is `_batch`, the row of the highest batch.

   `is_deleted` says which rows are gone: the name of a field that is true then, a field with the meaning of each of its
   codes, or an expression. `row` is where the row is on the line, if the line has more than the row, `fields` where a
   column is that is elsewhere or has another name, and `only` the values by which lines of this table are known.
   With `delete_version='ignore'`, the version of a delete is not read: its place among the lines orders it. #}
{% macro parse_upserts(
    source, key, columns, version, is_deleted=none, required=[], encodings={}, ranges={}, missing_fields='refuse',
    unavailable_value='__debezium_unavailable_value', row=none, fields={}, only={}, delete_version='respect'
) -%}
  {%- do versioned_collapsing.validate_parsing(
      key, columns, required, encodings, ranges,
      versioned_collapsing.get_name_problems({'version': version})
      + versioned_collapsing.get_clamp_problems(key, columns, version, ranges)
      + ([] if version == '_batch' or version is not string
          else versioned_collapsing.get_version_column_problems(columns, version))
      + versioned_collapsing.get_choice_problems({'missing_fields': (missing_fields, ('refuse', 'keep', 'null'))})
      + versioned_collapsing._get_line_problems(source, columns, is_deleted, row, fields, only, missing_fields)
      + versioned_collapsing._get_delete_version_problems(delete_version, is_deleted, missing_fields),
  ) -%}
  {%- set columns = versioned_collapsing.get_type_names(columns) -%}
  {%- set missing_fields = 'null' if versioned_collapsing.is_parquet(source) else missing_fields -%}
  {%- set rows = [row] if row is string else (row or []) -%}
  {%- set is_field = is_deleted is none or modules.re.match('[A-Za-z_][A-Za-z0-9_]*$', is_deleted | string) -%}
  {%- set has_more = rows != [] or only != {} or fields != {} or not is_field -%}
  {%- set flag = versioned_collapsing._get_flag(is_deleted, has_more) -%}
  {%- set deletes = flag.deletes -%}
  {%- set has_places = delete_version == 'ignore' -%}
  {%- set places = versioned_collapsing.get_places(key, columns, none if has_places else version) -%}
  {%- set payload = columns | reject('in', places) | list -%}
  {%- set values = {} -%}
  {%- for name in columns -%}
    {%- set value = "_value['" ~ name ~ "']" -%}
    {%- do values.update({
        name: versioned_collapsing.get_line_field_sql(fields[name]) if name in fields else value
    }) -%}
  {%- endfor -%}
  {%- set paths = fields.values() | list + flag.paths + only | list -%}
  {%- set known_fields = (columns | list) + versioned_collapsing._get_names_in_row(paths, rows) -%}
  {%- set ignored = '_ignored' if has_more else 'cast(null as string)' -%}
  {%- set control = {
      '_is_deleted': deletes,
      '_missing_fields': '_missing_fields',
      '_ignored': ignored,
  } -%}
  {%- if has_places -%}
    {%- do control.update({'_is_unversioned': '_is_json and ' ~ deletes ~ ' and ' ~ ignored ~ ' is null'}) -%}
  {%- endif -%}
  {%- if missing_fields == 'keep' -%}
    {%- do control.update({'_unset': 'if(' ~ deletes ~ ', cast(array() as array<string>), _missing_fields)'}) -%}
  {%- endif -%}
  {%- set lines = versioned_collapsing.get_lines_sql(source, versioned_collapsing.read_has_landed(source)) -%}
  {%- if has_more -%}
    {%- set lines = versioned_collapsing.get_rows_on_lines_sql(lines, rows, only, is_deleted) -%}
  {%- endif -%}
  {%- set exact = {} -%}
  {%- for name in versioned_collapsing.get_exact_columns(columns) + (flag.paths if not has_more else [])
      if name not in fields -%}
    {%- do exact.update({name: ["['" ~ name ~ "']"]}) -%}
  {%- endfor -%}
  with images as (
    {{ versioned_collapsing.get_parsed_lines_sql(
        versioned_collapsing._get_lines_as_maps_sql(lines, rows), 'map<string, string>', exact
    ) }}
  ),
  typed as (
    select
      *,
      if(
        _is_json and not {{ deletes }},
        {{ versioned_collapsing.get_missing_fields_sql(payload | reject('in', fields) | list, '_value') }},
        null
      ) as _missing_fields
    from (
      {{ versioned_collapsing.get_typed_columns_sql(
          'images', "array('')", values, columns, encodings, unavailable=unavailable_value, ranges=ranges
      ) }}
    )
  )
  {{ versioned_collapsing.get_typed_lines_sql(
      'typed',
      columns,
      '_value',
      'map_keys(_value)',
      known_fields,
      'if(_is_json' ~ (' and _ignored is null' if has_more) ~ (' and not ' ~ deletes if has_places) ~ ', ' ~ version
          ~ ', null)',
      control,
      versioned_collapsing.get_line_of_table_problems(only)
      + flag.problems
      + ([('_row_problem is not null', '_row_problem')] if rows else [])
      + ([] if version == '_batch' else versioned_collapsing._get_null_version_problems(version, deletes, has_places))
      + versioned_collapsing.get_row_problems(
          key, columns, none if has_places else version, deletes, required if missing_fields != 'keep' else [], ranges
      )
      + versioned_collapsing.get_kept_field_problems(missing_fields, required, places, [], '_value', 'false')
      + versioned_collapsing.get_missing_field_problems(missing_fields),
  ) }}
{%- endmacro %}

{# Each line with `_json_line`, the text of its row, and with the values of that. #}
{% macro _get_lines_as_maps_sql(lines, rows) -%}
  select *, {{ versioned_collapsing.get_json_values_sql('_json_line', 'map<string, string>') }} as _parsed
  from (
    select *, {{ '_json_text' if rows else versioned_collapsing.get_json_line_sql('_raw_line') }} as _json_line
    from ({{ lines }})
  )
{%- endmacro %}

{% macro _get_delete_version_problems(delete_version, is_deleted, missing_fields) %}
  {%- if delete_version not in ('respect', 'ignore') -%}
    {%- do return(versioned_collapsing.get_choice_problems({
        'delete_version': (delete_version, ('respect', 'ignore'))
    })) -%}
  {%- elif delete_version == 'ignore' and not is_deleted -%}
    {%- do return(["delete_version is 'ignore', but no line is a delete. Set is_deleted too, or remove it."]) -%}
  {%- elif delete_version == 'ignore' and missing_fields == 'keep' -%}
    {%- do return([
        "delete_version is 'ignore' and missing_fields is 'keep'. A partial change has no place among deletes without "
        ~ "a version. Set missing_fields: 'refuse' or 'null'."
    ]) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}

{# The problems with the arguments of parse_upserts that say where on a line a row is, and what its codes mean. #}
{% macro _get_line_problems(source, columns, is_deleted, row, fields, only, missing_fields) %}
  {%- set problems = versioned_collapsing.get_mapping_problems({'fields': fields, 'only': only}) -%}
  {%- if problems -%}{%- do return(problems) -%}{%- endif -%}
  {%- for path in ([row] if row is string else (row or [])) if not versioned_collapsing.is_line_path(path) -%}
    {%- do problems.append(
        "row is '" ~ path ~ "'; it takes the name of a field that has the row, with dots between names: 'payload.data'."
    ) -%}
  {%- endfor -%}
  {%- do problems.extend(versioned_collapsing.get_outside_problems({'fields': fields}, columns)) -%}
  {%- for path in only if not versioned_collapsing.is_line_path(path) -%}
    {%- do problems.append("only has '" ~ path ~ "'; it takes names of fields with the values that they may have.") -%}
  {%- endfor -%}
  {%- set is_codes = is_deleted is mapping and is_deleted | length == 1 and is_deleted.values() | first is mapping -%}
  {%- set meanings = (is_deleted.values() | first).values() | list if is_codes else [] -%}
  {%- if is_deleted is not none and is_deleted is not string
      and (not is_codes or meanings | reject('in', [true, false, none]) | list) -%}
    {%- do problems.append(
        "is_deleted is " ~ is_deleted ~ "; it takes the name of a field that is true for a deleted row, an expression, "
        ~ "or a field with the meaning of its codes: {'Op': {'I': false, 'U': false, 'D': true}}. The meaning none "
        ~ "leaves a line out."
    ) -%}
  {%- endif -%}
  {%- if versioned_collapsing.is_parquet(source) and (row or missing_fields == 'keep') -%}
    {%- do problems.append(
        "the source has Parquet files, which do not say whether a field is null or missing, and whose rows have no "
        ~ "row within: remove row and missing_fields='keep'."
    ) -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}

{# A line without a version. #}
{% macro _get_null_version_problems(version, deletes, has_places) %}
  {%- set condition, reason = versioned_collapsing.get_missing_version_problem(version) -%}
  {%- set in_deletes = "'version " ~ version ~ " is null in a delete: set delete_version if deletes have none'" -%}
  {%- if has_places -%}{%- do return([(condition ~ ' and not ' ~ deletes, reason)]) -%}{%- endif -%}
  {%- do return(
      ([(condition ~ ' and ' ~ deletes, in_deletes)] if deletes != 'false' else []) + [(condition, reason)]
  ) -%}
{% endmacro %}

{# Which rows are gone: the condition, the paths that it reads, and why a line does not tell. #}
{% macro _get_flag(is_deleted, has_more) %}
  {%- if not is_deleted -%}
    {%- do return({'deletes': 'false', 'paths': [], 'problems': []}) -%}
  {%- elif is_deleted is mapping -%}
    {%- set path = is_deleted | first -%}
    {%- set field = versioned_collapsing.get_line_field_sql(path) -%}
    {%- set codes = is_deleted[path] -%}
    {%- set gone = [] -%}
    {%- for code, meaning in codes.items() if meaning -%}{%- do gone.append(code | string) -%}{%- endfor -%}
    {%- do return({
        'deletes': 'coalesce(' ~ field ~ ' in (' ~ versioned_collapsing.quote_literals(gone) ~ '), false)'
            if gone else 'false',
        'paths': [path],
        'problems': [(
            field ~ ' not in (' ~ versioned_collapsing.quote_literals(codes | map('string')) ~ ')',
            "concat('unknown " ~ path ~ " ', " ~ field ~ ')',
        )],
    }) -%}
  {%- elif not versioned_collapsing.is_line_path(is_deleted) -%}
    {%- do return({'deletes': 'coalesce(' ~ is_deleted ~ ', false)', 'paths': [], 'problems': []}) -%}
  {%- endif -%}
  {%- set on_line = versioned_collapsing.get_line_field_sql(is_deleted) -%}
  {%- set field = on_line if has_more else "_value['" ~ is_deleted ~ "']" -%}
  {%- set typed = 'try_cast(' ~ field ~ ' as boolean)' -%}
  {%- do return({
      'deletes': 'coalesce(' ~ typed ~ ', false)',
      'paths': [is_deleted],
      'problems': [(
          field ~ ' is not null and ' ~ typed ~ ' is null',
          "concat('" ~ is_deleted ~ " is ', " ~ field ~ ", ': map its codes in is_deleted')",
      )],
  }) -%}
{% endmacro %}

{# The names of fields of the row to which paths lead from the line. #}
{% macro _get_names_in_row(paths, rows) %}
  {%- set names = [] -%}
  {%- for path in paths if versioned_collapsing.is_line_path(path) -%}
    {%- for row in rows or [''] if path.startswith(row ~ '.' if row else '') -%}
      {%- do names.append(path[(row ~ '.') | length if row else 0 :].split('.')[0]) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(names | unique | list) -%}
{% endmacro %}
