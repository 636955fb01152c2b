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
