{% macro get_replaced_sql(text, pattern, replacement) %}
  {%- do return(
      'replaceRegexpAll(' ~ text ~ ', ' ~ versioned_collapsing.quote_literal(pattern) ~ ', '
      ~ versioned_collapsing.quote_literal(replacement) ~ ')'
  ) -%}
{% endmacro %}


{# A text without the zeros at the end of a fraction: 10:00:00.500 becomes 10:00:00.5. #}
{% macro get_without_zeros_sql(text) %}
  {%- do return(versioned_collapsing.get_replaced_sql(text, '\\.0*$|(\\.[0-9]*[1-9])0+$', '\\1')) -%}
{% endmacro %}
