{# The expressions that both rows of a pair share. ClickHouse refuses a sorting key that has an expression twice, and
   the table may be both sorted and partitioned by the same expression. So expressions that are not columns are compared
   in ClickHouse's own spelling. #}
{% macro read_pairing_expressions(options, columns) %}
  {%- set wanted = options.unique_key + options.order_by + options.partition_by -%}
  {%- set texts = [] -%}
  {%- for expression in wanted -%}
    {%- do texts.append(versioned_collapsing.get_expressions_sql([expression], columns)) -%}
  {%- endfor -%}
  {%- if wanted | reject('in', columns.names) | list == [] -%}
    {%- do return(texts | unique(case_sensitive=true) | list) -%}
  {%- endif -%}
  {%- set expressions = [] -%}
  {%- for text in versioned_collapsing.read_formatted_expressions(texts) -%}
    {%- do expressions.extend(versioned_collapsing.cut_at_commas(text)) -%}
  {%- endfor -%}
  {%- do return(expressions | unique(case_sensitive=true) | list) -%}
{% endmacro %}
