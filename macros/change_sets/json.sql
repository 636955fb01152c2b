{# How Spark reads the JSON of a line exactly: numbers and nested values as the text that stands there. `from_json`
   writes a number that is to be text anew, from a double. So numbers are put into quotes first.

   The regular expressions are Java's. Their loops are possessive, so that no line is too long for the stack. #}
{% macro _get_json_string_pattern() %}
  {%- set pattern -%}"(?:[^"\\]++|\\.)*+"{%- endset -%}
  {%- do return(pattern) -%}
{% endmacro %}


{# A value that is nested at most 24 levels deep, of which two may be Debezium's,, which is as deep as a regular expression has levels. #}
{% macro _get_json_value_pattern() %}
  {%- set string = versioned_collapsing._get_json_string_pattern() -%}
  {%- set nested = [''] -%}
  {%- for level in range(24) -%}
    {%- do nested.append('|[\\[{](?:[^"\\[\\]{}]++|' ~ string ~ nested[-1] ~ ')*+[\\]}]') -%}
  {%- endfor -%}
  {%- do return('(?:[^"\\[\\]{},\\s]++|' ~ string ~ nested[-1] ~ ')') -%}
{% endmacro %}


{# Strict JSON, of any length. Not of any depth: a field that nests deeper than the 1,000 levels that Spark writes,
   wrappers included, would be null. #}
{% macro _get_json_options_sql(depth) %}
  {%- do return(
      "map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false', 'maxStringLen', '2147483647', "
      ~ "'maxNumLen', '2147483647', 'maxNestingDepth', '" ~ depth ~ "')"
  ) -%}
{% endmacro %}


{# A line's values as `array<struct<fields>>`: the object, and a second one that only a line with one object, and
   nothing behind it, leaves where it is; Spark does not look behind what it parses. #}
{% macro get_json_values_sql(line, fields, depth=900) -%}
  from_json(
    concat('[', {{ versioned_collapsing.get_quoted_numbers_sql(line) }}, ',{"_dbt_end":true}]'),
    'array<struct<{{ fields ~ ', ' if fields }}_dbt_end: boolean>>',
    {{ versioned_collapsing._get_json_options_sql(depth) }}
  )
{%- endmacro %}


{% macro get_is_json_sql(values) -%}
  coalesce(size({{ values }}) = 2 and {{ values }}[1]._dbt_end and {{ values }}[0] is not null, false)
{%- endmacro %}


{# A line without the byte order mark that it has where files were joined. #}
{% macro get_json_line_sql(line) -%}
  if(startswith({{ line }}, '\uFEFF'), substr({{ line }}, 2), {{ line }})
{%- endmacro %}


{# JSON with its numbers in quotes, where a field has one that a double may not hold, or NaN or an infinity. #}
{% macro get_quoted_numbers_sql(json) -%}
  {%- set string = versioned_collapsing._get_json_string_pattern() -%}
  if(
    {{ json }} rlike r'"\s*+:\s*+(?:-?[0-9]++[.eE]|-0|[-+]?[IN]|-?[0-9]{400})',
    regexp_replace(
      {{ json }},
      r'\G((?:[^"0-9+\-IN]++|{{ string }})*+)(-?(?:0|[1-9][0-9]*+)(?:[.][0-9]++)?+(?:[eE][+\-]?[0-9]++)?+|[+\-]?Infinity|NaN)(?=[\s,\]}])',
      r'$1"$2"'
    ),
    {{ json }}
  )
{%- endmacro %}


{# The nested members of a JSON object, by name; '' for others. `path` leads to it, an array of names. Where a member is
   nested too deep, or a name stands twice or has an escape, which text is whose cannot be told: then there is one
   with the name '"'. #}
{% macro get_members_sql(line, path) -%}
  {%- set string = versioned_collapsing._get_json_string_pattern() -%}
  coalesce(aggregate({{ path }}, map('', {{ line }}), (found, name) -> transform(
    transform(
      array(regexp_extract_all(found[name], r'\G\s*+[{,]\s*+({{ string }}\s*+:\s*+{{ versioned_collapsing._get_json_value_pattern() }})(?=\s*+[,}])', 1)),
      members -> struct(
        transform(members, member -> regexp_extract(member, r'^"((?:[^"\\]++|\\.)*+)"', 1)) as names,
        transform(members, member -> regexp_extract(member, r'^{{ string }}\s*+:\s*+([\[{](?s).*+)?', 1)) as texts
      )
    ),
    row -> if(
      size(row.names) = size(json_object_keys(regexp_replace(found[name], r':\s*+[+\-]?+(Infinity|NaN)', ':0'))) and size(array_distinct(row.names)) = size(row.names)
        and not contains(array_join(row.names, ''), r'\'),
      map_from_arrays(row.names, row.texts),
      null
    )
  )[0]), map('"', ''))
{%- endmacro %}


{% macro get_is_nested_sql(text) -%}
  left({{ text }}, 1) in ('[', '{')
{%- endmacro %}


{# Text that has an escaped half of a character without the other one; Spark makes it a question mark. #}
{% macro get_has_lone_surrogate_sql(line) -%}
  (contains({{ line }}, r'\ud') or contains({{ line }}, r'\uD'))
  and {{ line }} rlike r'^(?:[^\\]++|\\[^u]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+\\u[dD]'
{%- endmacro %}
