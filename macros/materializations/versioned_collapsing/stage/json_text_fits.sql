{# Whether two JSON documents have the same texts and numbers, in any order: ClickHouse sorts the keys, and drops nulls
   and empty objects. #}
{% macro _json_text_fits_sql(text, stored) %}
  {%- set string = '"(?:[^"\\\\]|\\\\.)*"' -%}
  {%- set sides = [] -%}
  {%- for side in (text, stored) -%}
    {%- set document = versioned_collapsing.get_replaced_sql(side, string ~ '\\s*:\\s*(null|[{]\\s*[}])', '') -%}
    {%- set texts = 'extractAll(' ~ document ~ ', ' ~ versioned_collapsing.quote_literal(string) ~ ')' -%}
    {%- set rest = versioned_collapsing.get_replaced_sql(document, string, '') -%}
    {%- set numbers = 'extractAll(' ~ rest ~ ", '-?[0-9][-+.eE0-9]*')" -%}
    {%- do sides.append(
        'arraySort(arrayConcat(arrayMap(_dbt_text -> JSONExtractString(_dbt_text), ' ~ texts
        ~ '), arrayMap(_dbt_text -> '
        ~ versioned_collapsing._number_sql('_dbt_text') ~ ', ' ~ numbers ~ ')))'
    ) -%}
  {%- endfor -%}
  {%- do return(sides | join(' = ')) -%}
{% endmacro %}
