{# The nested members of a JSON object as text, by name; '' for other members. `path` is an array of the names that lead
   to the object. If a member is nested too deep, or if a name occurs twice or has an escape, nobody can tell which text
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


{% macro get_is_nested_sql(text) -%}
  left({{ text }}, 1) in ('[', '{')
{%- endmacro %}
