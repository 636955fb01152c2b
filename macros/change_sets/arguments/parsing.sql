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
