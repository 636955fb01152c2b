{% macro get_toasted_problems(columns, toasted) %}
  {%- set problems = versioned_collapsing.get_list_problems({'toasted': toasted}, ['toasted']) -%}
  {%- set outside = toasted | reject('in', columns) | list if not problems else [] -%}
  {%- do return(problems + ([
      "toasted names " ~ outside | join(', ') ~ ", which " ~ ("is" if outside | length == 1 else "are")
      ~ " not in columns."
  ] if outside else [])) -%}
{% endmacro %}
