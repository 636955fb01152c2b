{# JSON as an array of `type`, a struct that has `_dbt_end` or a map: the object, and a second one that only text with
   one object, and nothing behind it, leaves where it is; Spark does not look behind what it parses. #}
{% macro get_json_values_sql(json, type, depth=900) -%}
  from_json(
    concat('[', {{ json }}, ',{"_dbt_end":true}]'),
    'array<{{ type }}>',
    {{ versioned_collapsing._get_json_options_sql(depth) }}
  )
{%- endmacro %}


{# Strict JSON, of any length. Not of any depth: a field that nests deeper than the 1,000 levels that Spark writes,
   wrappers included, would be null. #}
{% macro _get_json_options_sql(depth) %}
  {%- do return(
      "map('allowSingleQuotes', 'false', 'allowNonNumericNumbers', 'false', 'maxStringLen', '2147483647', "
      ~ "'maxNumLen', '2147483647', 'maxNestingDepth', '" ~ depth ~ "')"
  ) -%}
{% endmacro %}


{% macro get_is_json_sql(values) -%}
  coalesce(size({{ values }}) = 2 and {{ values }}[1]['_dbt_end'] = 'true' and {{ values }}[0] is not null, false)
{%- endmacro %}
