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


{% macro get_is_json_sql(values) -%}
  coalesce(size({{ values }}) = 2 and {{ values }}[1]['_dbt_end'] = 'true' and {{ values }}[0] is not null, false)
{%- endmacro %}
