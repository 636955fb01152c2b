{# A line's values, as get_json_values_sql returns them, in an array of one. The line is parsed as it is. It is parsed
   again with its numbers in quotes if the result is no JSON, or if a field has text that may come from a number. To
   look for numbers in every line would take as long as to parse it. #}
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


{# Whether the text of a field may come from a number that is written otherwise on the line. A text that is made from a
   number begins with a character below ':'. A name without escapes is found by its text. That is fast, because Spark
   does not look for more than three characters one by one. #}
{% macro _get_may_be_number_sql(line, name, paths) -%}
  {%- set texts = [] -%}
  {%- for path in paths -%}
    {%- do texts.append("coalesce(found[0]" ~ path ~ " < ':', false)") -%}
  {%- endfor -%}
  {%- set number = versioned_collapsing._get_rewritten_number_pattern() -%}
  ({{ texts | join(' or ') }})
        and (contains({{ line }}, r'\') or {{ line }} rlike r'"{{ name }}"\s*+:\s*+{{ number }}')
{%- endmacro %}
