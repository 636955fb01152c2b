{# What the rows of a pair share, in ClickHouse's own spelling: it refuses a sorting key in which an expression comes
   twice, as one may that the table is both sorted and partitioned by. #}
{% macro _get_pairing_expressions(options, columns) %}
  {%- set texts = [] -%}
  {%- for expression in options.unique_key + options.order_by + options.partition_by -%}
    {%- do texts.append(versioned_collapsing.get_expressions_sql([expression], columns)) -%}
  {%- endfor -%}
  {%- set expressions = [] -%}
  {%- for text in versioned_collapsing.read_formatted_expressions(texts) -%}
    {%- do expressions.extend(versioned_collapsing.cut_at_commas(text)) -%}
  {%- endfor -%}
  {%- do return(expressions | unique(true) | list) -%}
{% endmacro %}
