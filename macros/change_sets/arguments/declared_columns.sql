{% macro _get_name_problems(name) %}
  {%- set advice = 'Rename it at its source.' -%}
  {%- if name.startswith('_') -%}
    {%- do return([
        "columns: " ~ name ~ " begins with an underscore, which is reserved for control columns. " ~ advice
    ]) -%}
  {%- elif not modules.re.match('[A-Za-z][A-Za-z0-9_]*$', name) -%}
    {%- do return([
        "columns: '" ~ name ~ "' contains characters other than letters, digits and underscores. " ~ advice
    ]) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}


{% macro _get_type_problems(name, type) %}
  {%- if '<' in type | string -%}
    {%- do return([
        "columns: " ~ name ~ " is " ~ type ~ ". Declare a nested value as string; it then holds the JSON."
    ]) -%}
  {%- elif not versioned_collapsing.is_type(type) -%}
    {%- do return([
        "columns: " ~ name ~ " is " ~ type ~ ", which is not an accepted type. "
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
          "encodings: " ~ name ~ " is " ~ columns[name] ~ " and has the encoding '" ~ encoding ~ "'; "
          ~ versioned_collapsing.get_encodings_text() ~ "."
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
