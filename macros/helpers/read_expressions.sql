{# Lists of expressions in ClickHouse's own spelling, without parentheses around the whole. #}
{% macro read_formatted_expressions(texts) %}
  {%- set formatted = [] -%}
  {%- for text in texts -%}
    {%- set query = versioned_collapsing.quote_literal('select ' ~ text) -%}
    {%- do formatted.append('formatQuerySingleLine(' ~ query ~ ')' if text else "'SELECT '") -%}
  {%- endfor -%}
  {%- set found = run_query('select arrayJoin([' ~ formatted | join(', ') ~ ']) as _dbt_formatted '
      ~ versioned_collapsing.get_settings_sql()).columns[0].values() -%}
  {%- set expressions = [] -%}
  {%- for text in found -%}
    {%- do expressions.append(versioned_collapsing.strip_parentheses(text['SELECT ' | length :])) -%}
  {%- endfor -%}
  {%- do return(expressions) -%}
{% endmacro %}
