{% macro _get_name_problems(name) %}
  {%- set advice = 'Name it otherwise at its source.' -%}
  {%- if name.startswith('_') -%}
    {%- do return([
        "columns: " ~ name ~ " begins with an underscore, as the columns beside the row's do. " ~ advice
    ]) -%}
  {%- elif not modules.re.match('[A-Za-z][A-Za-z0-9_]*$', name) -%}
    {%- do return([
        "columns: '" ~ name ~ "' has other characters than letters, digits and underscores. " ~ advice
    ]) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}


{% macro _get_type_problems(name, type) %}
  {%- if '<' in type | string -%}
    {%- do return([
        "columns: " ~ name ~ " is " ~ type ~ ". Declare a nested value as string, which then holds its JSON."
    ]) -%}
  {%- elif not versioned_collapsing.is_type(type) -%}
    {%- do return([
        "columns: " ~ name ~ " is " ~ type ~ ", which is no type of a column. "
        ~ versioned_collapsing.get_types_text()
    ]) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}


{% macro _get_encoding_problems(columns, encodings) %}
  {%- set problems = [] -%}
  {%- for name, encoding in encodings.items() if name in columns -%}
    {%- if not versioned_collapsing.is_encoding_of(encoding, columns[name]) -%}
      {%- do problems.append(
          "encodings: " ~ name ~ " is " ~ columns[name] ~ " and has '" ~ encoding ~ "'; "
          ~ versioned_collapsing.get_encodings_text() ~ "."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
