{# An expression as an operand. A name or a function call stays as it is; anything else gets parentheses, because it may
   bind less tightly than the operator, as `not (x)` does. #}
{% macro _get_operand(expression) %}
  {%- set text = expression | string | trim -%}
  {%- set is_simple = modules.re.fullmatch('(?!(?i:not|case|interval|distinct)\\b)[\\w.`"]+(\\([^()]*\\))?', text) -%}
  {%- do return(text if is_simple else '(' ~ text ~ ')') -%}
{% endmacro %}

{# A sign, or the product of several: a row of a join counts with the product of its tables' signs. #}
{% macro _get_sign_sql(sign) %}
  {%- set factors = [] -%}
  {%- for name in versioned_collapsing.as_list(sign) -%}
    {%- do factors.append(versioned_collapsing._get_identifier(name)) -%}
  {%- endfor -%}
  {%- do return(factors | join(' * ')) -%}
{% endmacro %}

{# A name, quoted unless it needs no quotes or has them: `_sign`, `o._sign`. #}
{% macro _get_identifier(name) %}
  {%- set part = '(?:[A-Za-z_]\\w*|`(?:[^`\\\\]|\\\\.)+`|"(?:[^"\\\\]|\\\\.)+")' -%}
  {%- set is_identifier = modules.re.fullmatch(part ~ '(?:[.]' ~ part ~ ')*', name) -%}
  {%- do return(name if is_identifier else versioned_collapsing.quote_name(name)) -%}
{% endmacro %}

{# A mapping stays as it is; a name or a list of names becomes a mapping to the columns of those names. #}
{% macro get_named_expressions(columns) %}
  {%- if columns is mapping -%}{%- do return(columns) -%}{%- endif -%}
  {%- set named = {} -%}
  {%- for name in versioned_collapsing.as_list(columns) -%}
    {%- do named.update({name: versioned_collapsing._get_identifier(name)}) -%}
  {%- endfor -%}
  {%- do return(named) -%}
{% endmacro %}
