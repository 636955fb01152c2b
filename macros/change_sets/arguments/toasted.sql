{% macro get_toasted_problems(columns, toasted) %}
  {%- set problems = versioned_collapsing.get_list_problems({'toasted': toasted}, ['toasted']) -%}
  {%- set outside = toasted | reject('in', columns) | list if not problems else [] -%}
  {%- do return(problems + (["toasted: names " ~ outside ~ ", which columns does not have."] if outside else [])) -%}
{% endmacro %}
