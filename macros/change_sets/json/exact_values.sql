{# A line's values, as get_json_values_sql returns them, in an array of one. The line is parsed as it is, and once more
   with its numbers in quotes where that is no JSON, or where a field has text that may come from a number. To look for
   numbers in every line takes as long as to parse it. #}
{% macro get_exact_json_values_sql(line, type, exact) -%}
  {%- set quoted = versioned_collapsing.get_quoted_numbers_sql(line) -%}
  {%- set conditions = ['not ' ~ versioned_collapsing.get_is_json_sql('found')] -%}
  {%- for name, paths in exact.items() -%}
    {%- do conditions.append(versioned_collapsing._get_may_be_number_sql(line, name, paths)) -%}
  {%- endfor -%}
  transform(
    array({{ versioned_collapsing.get_json_values_sql(line, type) }}),
    found -> if(
      {{ conditions | join('\n      or ') }},
      {{ versioned_collapsing.get_json_values_sql(quoted, type) }},
      found
    )
  )
{%- endmacro %}


{# Whether the text of a field may come from a number that is written otherwise on the line. What is made of a number
   begins with a character below ':'. A name without escapes is found by its text, which is fast: more than three
   characters are not looked for one by one. #}
{% macro _get_may_be_number_sql(line, name, paths) -%}
  {%- set texts = [] -%}
  {%- for path in paths -%}
    {%- do texts.append("coalesce(found[0]" ~ path ~ " < ':', false)") -%}
  {%- endfor -%}
  {%- set number = versioned_collapsing._get_rewritten_number_pattern() -%}
  ({{ texts | join(' or ') }})
        and (contains({{ line }}, r'\') or {{ line }} rlike r'"{{ name }}"\s*+:\s*+{{ number }}')
{%- endmacro %}
