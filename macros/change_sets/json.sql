{# A line's values, in the form of get_json_values_sql. `parsed` are those of the line as it is. The line is parsed
   again with its numbers in quotes if the result is not JSON, or if a field has text that may come from a number.
   Looking for numbers in every line would take as long as parsing it. #}
{% macro get_exact_json_values_sql(line, parsed, type, exact) -%}
  {%- set conditions = ['not ' ~ versioned_collapsing.get_is_json_sql(parsed)] -%}
  {%- for name, paths in exact.items() -%}
    {%- do conditions.append(versioned_collapsing._get_may_be_number_sql(line, parsed, name, paths)) -%}
  {%- endfor -%}
  if(
    {{ conditions | join('\n    or ') }},
    {{ versioned_collapsing.get_json_values_sql(versioned_collapsing.get_quoted_numbers_sql(line), type) }},
    {{ parsed }}
  )
{%- endmacro %}

{# JSON as an array of `type`, which is a struct that has `_dbt_end`, or a map. The array has two elements: the object,
   and an end mark. Spark does not look at what follows the value that it parses, but the mark stays in its place only
   if the text is one object with nothing behind it. #}
{% macro get_json_values_sql(json, type, depth=900) -%}
  from_json(
    concat('[', {{ json }}, ',{"_dbt_end":true}]'),
    'array<{{ type }}>',
    {{ versioned_collapsing._get_json_options_sql(depth) }}
  )
{%- endmacro %}

{# Strict JSON of any length, but not of any depth: Spark writes at most 1,000 levels, wrappers included, and a field
   that nests deeper would be null. #}
{% macro _get_json_options_sql(depth) %}
  {%- do return(
      "map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false', 'maxStringLen', '2147483647', "
      ~ "'maxNumLen', '2147483647', 'maxNestingDepth', '" ~ depth ~ "')"
  ) -%}
{% endmacro %}

{# JSON with its numbers in quotes, if a field has a number that a double may not hold, or NaN or an infinity. #}
{% macro get_quoted_numbers_sql(json) -%}
  {%- set others -%}(?:[^"0-9+\-IN]++|{{ versioned_collapsing.get_json_string_pattern() }})*+{%- endset -%}
  {%- set number = '-?(?:0|[1-9][0-9]*+)(?:[.][0-9]++)?+(?:[eE][+\\-]?[0-9]++)?+|[+\\-]?Infinity|NaN' -%}
  if(
    {{ json }} rlike r'"\s*+:\s*+{{ versioned_collapsing._get_rewritten_number_pattern() }}',
    regexp_replace(
      {{ json }},
      r'\G({{ others }})({{ number }})(?=[\s,\]}])',
      r'$1"$2"'
    ),
    {{ json }}
  )
{%- endmacro %}

{# How Spark reads the JSON of a line exactly, with numbers and nested values as the text on the line. If a number is to
   become text, `from_json` makes a new text from a double. So numbers are put into quotes first.

   The regular expressions are Java's. Their loops are possessive, so that no line is too long for the stack. #}
{% macro get_json_string_pattern() %}
  {%- set pattern -%}"(?:[^"\\]++|\\.)*+"{%- endset -%}
  {%- do return(pattern) -%}
{% endmacro %}

{# The beginning of a number that Spark may not write as it was read, or that is no number in JSON. #}
{% macro _get_rewritten_number_pattern() %}
  {%- do return('(?:-?[0-9]++[.eE]|-0|[-+]?[IN]|-?[0-9]{400})') -%}
{% endmacro %}

{% macro get_is_json_sql(values) -%}
  coalesce(size({{ values }}) = 2 and {{ values }}[1]['_dbt_end'] = 'true' and {{ values }}[0] is not null, false)
{%- endmacro %}

{# Whether the text of a field may come from a number that is written differently on the line. A text made from a number
   begins with a character below ':'. A name without escapes is found by its text. That is fast, because Java skips
   ahead if a pattern begins with at least four fixed characters. JSON can escape a letter, digit or underscore only
   with `\u`. Other escapes do not count: each line of PostgreSQL has `\"` in `source.sequence`, and would be parsed
   twice. #}
{% macro _get_may_be_number_sql(line, parsed, name, paths) -%}
  {%- set texts = versioned_collapsing.get_texts('coalesce(' ~ parsed ~ "[0]{} < ':', false)", paths) -%}
  {%- set number = versioned_collapsing._get_rewritten_number_pattern() -%}
  ({{ texts | join(' or ') }})
      and (contains({{ line }}, r'\u') or {{ line }} rlike r'"{{ name }}"\s*+:\s*+{{ number }}')
{%- endmacro %}

{# A line without the byte order mark that it may have if files were concatenated. #}
{% macro get_json_line_sql(line) -%}
  if(startswith({{ line }}, '\uFEFF'), substr({{ line }}, 2), {{ line }})
{%- endmacro %}

{# The nested members of a JSON object as text, by name; '' for other members. `path` is an array of the names that lead
   to the object. If a member is nested too deeply, or if a name occurs twice or has an escape, it is unclear which text
   belongs to which name. Then there is only one member, with the name '"'. #}
{% macro get_members_sql(line, path) -%}
  {%- set string = versioned_collapsing.get_json_string_pattern() -%}
  {%- set member -%}{{ string }}\s*+:\s*+{{ versioned_collapsing.get_json_value_pattern() }}{%- endset -%}
  {%- set infinity = ':\\s*+[+\\-]?+(Infinity|NaN)' -%}
  coalesce(aggregate({{ path }}, map('', {{ line }}), (found, name) -> transform(
    transform(
      array(regexp_extract_all(found[name], r'\G\s*+[{,]\s*+({{ member }})(?=\s*+[,}])', 1)),
      members -> struct(
        transform(members, member -> regexp_extract(member, r'^"((?:[^"\\]++|\\.)*+)"', 1)) as names,
        transform(members, member -> regexp_extract(member, r'^{{ string }}\s*+:\s*+([\[{](?s).*+)?', 1)) as texts
      )
    ),
    row -> if(
      size(row.names) = size(json_object_keys(regexp_replace(found[name], r'{{ infinity }}', ':0')))
        and size(array_distinct(row.names)) = size(row.names)
        and not contains(array_join(row.names, ''), r'\'),
      map_from_arrays(row.names, row.texts),
      null
    )
  )[0]), map('"', ''))
{%- endmacro %}

{# A value that is nested at most 24 levels deep, two of which may be Debezium's: a regular expression cannot match any
   depth. #}
{% macro get_json_value_pattern() %}
  {%- set string = versioned_collapsing.get_json_string_pattern() -%}
  {%- set nested = [''] -%}
  {%- for level in range(24) -%}
    {%- do nested.append('|[\\[{](?:[^"\\[\\]{}]++|' ~ string ~ nested[-1] ~ ')*+[\\]}]') -%}
  {%- endfor -%}
  {%- do return('(?:[^"\\[\\]{},\\s]++|' ~ string ~ nested[-1] ~ ')') -%}
{% endmacro %}

{# Whether text has one half of an escaped surrogate pair without the other half. Spark turns such a half into a
   question mark. #}
{% macro get_has_lone_surrogate_sql(line) -%}
  {%- set pair = '\\\\u[dD][89abAB][0-9a-fA-F]{2}\\\\u[dD][c-fC-F][0-9a-fA-F]{2}' -%}
  {%- set other = '[^\\\\]++|\\\\[^u]|\\\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}' -%}
  contains({{ line }}, r'\u')
  and (contains({{ line }}, r'\ud') or contains({{ line }}, r'\uD'))
  and {{ line }} rlike r'^(?:{{ other }}|{{ pair }})*+\\u[dD]'
{%- endmacro %}
