{# What is wrong with a row of text, each as a condition and the reason, an expression; the first that holds counts.
   Of a delete no more is looked at than its key and version. #}
{% macro get_row_problems(
    key, columns, version, is_deleted, required, ranges, toasted=[]
) %}
  {%- set problems = [] -%}
  {%- set places = versioned_collapsing.get_places(key, columns, version) -%}
  {%- for name in key -%}
    {%- do problems.append({'condition': '_text_' ~ name ~ ' is null', 'reason': "'key " ~ name ~ " is null'"}) -%}
  {%- endfor -%}
  {%- for name in places -%}
    {%- do problems.extend(versioned_collapsing.get_value_problems(
        name, columns[name], ranges, name in toasted
    )) -%}
  {%- endfor -%}
  {%- do problems.append({'condition': is_deleted, 'reason': 'null'}) -%}
  {%- do problems.extend(versioned_collapsing.get_payload_problems(
      columns, places, required, ranges, toasted
  )) -%}
  {%- do return(problems) -%}
{% endmacro %}


{# The columns that a delete needs too. #}
{% macro get_places(key, columns, version) %}
  {%- do return(key + ([version] if version in columns and version not in key else [])) -%}
{% endmacro %}


{% macro get_payload_problems(
    columns, places, required, ranges, toasted=[], prefix='', label=''
) %}
  {%- set problems = [] -%}
  {%- for name in required if name not in places -%}
    {%- set is_left_out = ' and _after.' ~ name ~ ' is null' if name in toasted else '' -%}
    {%- do problems.append({'condition': '_text_' ~ prefix ~ name ~ ' is null' ~ is_left_out, 'reason': "'" ~ label ~ name ~ " is null'"}) -%}
  {%- endfor -%}
  {%- for name, type in columns.items() if name not in places -%}
    {%- do problems.extend(versioned_collapsing.get_value_problems(
        name, type, ranges, name in toasted, prefix, label
    )) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{# Why the text of a column is no value of it. #}
{% macro get_value_problems(
    name, type, ranges, is_toasted=false, prefix='', label=''
) %}
  {%- set text = '_text_' ~ prefix ~ name -%}
  {%- set typed = prefix ~ name -%}
  {%- set misfit = versioned_collapsing.get_misfit_sql(text, typed, type) -%}
  {%- set range = ranges.get(name) or versioned_collapsing.get_default_range(type) -%}
  {%- set problems = [] -%}
  {%- if not is_toasted -%}
    {%- do problems.append({
        'condition': 'array_contains(_placeholders' ~ prefix ~ ', ' ~ text ~ ')',
        'reason': "'" ~ label ~ name ~ " is unavailable'",
    }) -%}
  {%- endif -%}
  {%- if misfit -%}
    {%- do problems.append({'condition': misfit, 'reason': "'" ~ label ~ name ~ " does not fit " ~ type ~ "'"}) -%}
  {%- endif -%}
  {%- if range -%}
    {%- do problems.append({
        'condition': typed ~ " not between cast('" ~ range[0] ~ "' as " ~ type ~ ") and cast('" ~ range[1] ~ "' as " ~ type ~ ")",
        'reason': "'" ~ label ~ name ~ " is outside " ~ range[0] ~ " to " ~ range[1] ~ "'",
    }) -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}


{# All that is wrong with what a macro that parses is told, as one error. #}
{% macro validate_parsing(source, key, columns, required, encodings, ranges, more=[]) %}
  {%- set problems = versioned_collapsing.get_list_problems({'key': key, 'required': required}, ['required'])
      + versioned_collapsing.get_mapping_problems({'columns': columns, 'encodings': encodings, 'ranges': ranges}) -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems, 'a staging model') -%}
  {%- for argument, names in {'key': key, 'required': required, 'encodings': encodings | list, 'ranges': ranges | list}.items() -%}
    {%- set outside = names | reject('in', columns) | list -%}
    {%- if outside -%}
      {%- do problems.append(argument ~ ": names " ~ outside ~ ", which columns does not have.") -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name, type in columns.items() -%}
    {%- if name.startswith('_') -%}
      {%- do problems.append("columns: " ~ name ~ " begins with an underscore, as the columns beside the row's do. Name it otherwise at its source.") -%}
    {%- elif not modules.re.match('[A-Za-z][A-Za-z0-9_]*$', name) -%}
      {%- do problems.append("columns: '" ~ name ~ "' has other characters than letters, digits and underscores. Name it otherwise at its source.") -%}
    {%- endif -%}
    {%- if '<' in type | string -%}
      {%- do problems.append("columns: " ~ name ~ " is " ~ type ~ ". Declare a nested value as string, which then holds its JSON.") -%}
    {%- elif not versioned_collapsing.is_type(type) -%}
      {%- do problems.append("columns: " ~ name ~ " is " ~ type ~ ", which is no type of a column. " ~ versioned_collapsing.get_types_text()) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name, encoding in encodings.items() if name in columns and not versioned_collapsing.is_encoding_of(encoding, columns[name]) -%}
    {%- do problems.append(
        "encodings: " ~ name ~ " is " ~ columns[name] ~ " and has '" ~ encoding ~ "'; " ~ versioned_collapsing.get_encodings_text() ~ "."
    ) -%}
  {%- endfor -%}
  {%- for name, range in ranges.items() if range is string or range is not sequence or range | length != 2 -%}
    {%- do problems.append("ranges: " ~ name ~ " has " ~ range ~ "; it takes the lowest and the highest value.") -%}
  {%- endfor -%}
  {%- do versioned_collapsing.raise_problems(model.unique_id, problems + more, 'a staging model') -%}
{% endmacro %}


{# A column that orders the changes of a row. #}
{% macro get_version_column_problems(columns, version) %}
  {%- if version not in columns -%}
    {%- do return(["version: names " ~ version ~ ", which columns does not have."]) -%}
  {%- elif versioned_collapsing.get_type_name(columns[version]) not in ('tinyint', 'smallint', 'int', 'bigint', 'date', 'timestamp') -%}
    {%- do return(["version: " ~ version ~ " is " ~ columns[version] ~ ". A version is an integer, a date or a timestamp."]) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}


{% macro get_missing_version_problem(version) %}
  {%- do return({'condition': '_text_' ~ version ~ ' is null', 'reason': "'version " ~ version ~ " is null'"}) -%}
{% endmacro %}
