{# The problems with a row of text, each as a condition and a reason (an expression). The first condition that holds
   counts. Of a delete, only the key and the version are checked. #}
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
