{# A column of the table as it is compared. Of an Enum it is the text: a truth may have values that the Enum lacks. #}
{% macro get_live_value_sql(column) %}
  {%- set name = versioned_collapsing.quote_name(column.name) -%}
  {%- set base = versioned_collapsing.get_base_type(column.type) -%}
  {%- if versioned_collapsing.is_nested_type(base) -%}{%- do return(name) -%}{%- endif -%}
  {%- set type = versioned_collapsing._get_compared_type(column.type) -%}
  {%- do return(versioned_collapsing._get_exact_cast_sql(name, base, type)) -%}
{% endmacro %}


{# A column of the truth in the type in which it is compared. A null stays null, and so does what has no place in the
   type, so that both are seen. #}
{% macro get_true_value_sql(column) %}
  {%- set name = versioned_collapsing.quote_name(column.name) -%}
  {%- if versioned_collapsing.is_nested_type(column.type) -%}
    {%- set base = versioned_collapsing.get_base_type(column.type) -%}
    {%- do return('cast(' ~ name ~ ', ' ~ versioned_collapsing.quote_literal(base) ~ ')') -%}
  {%- endif -%}
  {%- set type = versioned_collapsing._get_compared_type(column.type) -%}
  {%- do return(versioned_collapsing._get_exact_cast_sql(name, column.given_type, type)) -%}
{% endmacro %}


{% macro _get_compared_type(type) %}
  {%- set base = versioned_collapsing.get_base_type(type) -%}
  {%- do return('String' if base.startswith('Enum') else base) -%}
{% endmacro %}


{# A cast that is null where there is no such value. Between floats and decimals it goes by the digits that a float is
   written with: of 1.15 the cast makes 1.14. A day may be written with a time, which counts as lost unless it is 0. #}
{% macro _get_exact_cast_sql(expression, type, wanted) %}
  {%- set by_digits = ('Float' in type and wanted.startswith('Decimal')) or 'Enum' in type -%}
  {%- set is_day = wanted in ('Date', 'Date32') and 'String' in type -%}
  {%- set given = 'toString(' ~ expression ~ ')' if by_digits
      else 'left(' ~ expression ~ ', 10)' if is_day
      else expression -%}
  {%- do return('accurateCastOrNull(' ~ given ~ ', ' ~ versioned_collapsing.quote_literal(wanted) ~ ')') -%}
{% endmacro %}
