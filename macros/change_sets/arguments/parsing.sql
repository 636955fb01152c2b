{# All that is wrong with the arguments of a macro that parses, as one error. #}
{% macro validate_parsing(source, key, columns, required, encodings, ranges, more=[]) %}
  {%- set problems = versioned_collapsing.get_list_problems({'key': key, 'required': required}, ['required'])
      + versioned_collapsing.get_mapping_problems({'columns': columns, 'encodings': encodings, 'ranges': ranges}) -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'a staging model') -%}
  {%- set named = {'key': key, 'required': required, 'encodings': encodings | list, 'ranges': ranges | list} -%}
  {%- for argument, names in named.items() -%}
    {%- set outside = names | reject('in', columns) | list -%}
    {%- if outside -%}
      {%- do problems.append(
          argument ~ " names " ~ outside | join(', ') ~ ", which "
          ~ ("is" if outside | length == 1 else "are") ~ " not in columns."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name, type in columns.items() -%}
    {%- do problems.extend(
        versioned_collapsing._get_name_problems(name) + versioned_collapsing._get_type_problems(name, type)
    ) -%}
  {%- endfor -%}
  {%- do problems.extend(versioned_collapsing._get_encoding_problems(columns, encodings)) -%}
  {%- for name, range in ranges.items() if range is string or range is not sequence or range | length != 2 -%}
    {%- do problems.append(
        "ranges: " ~ name ~ " has " ~ range ~ "; a range takes two values, the lowest and the highest."
    ) -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems + more, 'a staging model') -%}
{% endmacro %}


{# The problems with the arguments of parse_upserts that say where on a line a row is, and what its codes mean. #}
{% macro get_line_problems(source, columns, is_deleted, row, fields, only, missing_fields) %}
  {%- set problems = versioned_collapsing.get_mapping_problems({'fields': fields, 'only': only}) -%}
  {%- if problems -%}{%- do return(problems) -%}{%- endif -%}
  {%- for path in ([row] if row is string else (row or [])) if not versioned_collapsing.is_line_path(path) -%}
    {%- do problems.append(
        "row is '" ~ path ~ "'; it takes the name of a field that has the row, with dots between names: 'payload.data'."
    ) -%}
  {%- endfor -%}
  {%- set outside = fields | reject('in', columns) | list -%}
  {%- if outside -%}
    {%- do problems.append("fields names " ~ outside | join(', ') ~ ", not in columns: it says where columns are.") -%}
  {%- endif -%}
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
