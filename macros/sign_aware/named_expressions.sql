{# A mapping as it is; of a name or a list of names, each with the column of that name. #}
{% macro get_named_expressions(columns) %}
  {%- if columns is mapping -%}{%- do return(columns) -%}{%- endif -%}
  {%- set named = {} -%}
  {%- for name in ([] if columns is none else [columns] if columns is string else columns) -%}
    {%- do named.update({name: versioned_collapsing._get_identifier(name)}) -%}
  {%- endfor -%}
  {%- do return(named) -%}
{% endmacro %}
