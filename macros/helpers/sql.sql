{# The model's select in parentheses, on lines of its own, because it may end with a comment. #}
{% macro get_subquery_sql(sql) %}
  {%- do return('(\n' ~ sql ~ '\n)') -%}
{% endmacro %}


{% macro get_keys_equal_sql(left, right, unique_key) %}
  {%- set terms = [] -%}
  {%- for name in unique_key -%}
    {%- do terms.append(left ~ '.' ~ adapter.quote(name) ~ ' = ' ~ right ~ '.' ~ adapter.quote(name)) -%}
  {%- endfor -%}
  {%- do return(terms | join(' and ')) -%}
{% endmacro %}


{# Values of columns as messages show them: (7, 5). Text is in quotes. #}
{% macro get_shown_values_sql(names, alias=none) %}
  {%- set shown = [] -%}
  {%- for name in names -%}
    {%- set value = (alias ~ '.' if alias else '') ~ adapter.quote(name) -%}
    {%- do shown.append(
        versioned_collapsing.get_shown_text_sql('substring(toString(tuple(' ~ value ~ ')), 2, -1)')
    ) -%}
  {%- endfor -%}
  {%- do return("concat('(', " ~ shown | join(", ', ', ") ~ ", ')')") -%}
{% endmacro %}


{# The beginning of a text, for messages: a key may be as long as a book. #}
{% macro get_shown_text_sql(text) %}
  {%- do return("concat(leftUTF8(" ~ text ~ ", 200), if(lengthUTF8(" ~ text ~ ") > 200, '…', ''))") -%}
{% endmacro %}


{# Columns and expressions of an option. Columns are quoted, because they may have any name. #}
{% macro get_expressions_sql(expressions, columns) %}
  {%- set quoted = [] -%}
  {%- for expression in expressions -%}
    {%- do quoted.append(adapter.quote(expression) if expression in columns.names else expression) -%}
  {%- endfor -%}
  {%- do return(quoted | join(', ')) -%}
{% endmacro %}


{# A length of time as ClickHouse writes it: '30 days' becomes `interval 30 day`. None for any other text. #}
{% macro get_interval_sql(text) %}
  {%- set parts = modules.re.fullmatch(
      '(\\d+) *(second|minute|hour|day|week|month|quarter|year)s?', text | string | trim | lower
  ) -%}
  {%- do return('interval ' ~ parts[1] ~ ' ' ~ parts[2] if parts else none) -%}
{% endmacro %}
