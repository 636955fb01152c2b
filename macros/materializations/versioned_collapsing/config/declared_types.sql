{# The data types that the properties of a model declare, by column, in ClickHouse's own spelling. #}
{% macro read_declared_types(model) %}
  {%- set spelled = model.columns.values() | selectattr('data_type') | list -%}
  {%- set canonical = versioned_collapsing.read_canonical_types(spelled | map(attribute='data_type') | list) -%}
  {%- set declared = {} -%}
  {%- for column in spelled -%}
    {%- do declared.update({column.name: canonical[column.data_type]}) -%}
  {%- endfor -%}
  {%- do return(declared) -%}
{% endmacro %}
