{# A name as an identifier, whatever is in it. #}
{% macro _quoted(name) %}
  {%- do return(adapter.quote(name | replace('\\', '\\\\') | replace('"', '\\"'))) -%}
{% endmacro %}


{# The same, but as it is where it needs no quotes, or has them already: `_sign`, `o._sign`. #}
{% macro _identifier(name) %}
  {%- set part = '(?:[A-Za-z_]\\w*|`(?:[^`\\\\]|\\\\.)+`|"(?:[^"\\\\]|\\\\.)+")' -%}
  {%- do return(name if modules.re.fullmatch(part ~ '(?:[.]' ~ part ~ ')*', name) else versioned_collapsing._quoted(name)) -%}
{% endmacro %}


{# An expression as an operand: a name or a call of a function stands by itself, what else is there may bind less than
   the operator does, as `not (x)` does. #}
{% macro _operand(expression) %}
  {%- set text = expression | string | trim -%}
  {%- set is_simple = modules.re.fullmatch('(?!(?i:not|case|interval|distinct)\\b)[\\w.`"]+(\\([^()]*\\))?', text) -%}
  {%- do return(text if is_simple else '(' ~ text ~ ')') -%}
{% endmacro %}


{% macro _quoted_list(names) %}
  {%- set quoted = [] -%}
  {%- for name in names -%}{%- do quoted.append(versioned_collapsing._quoted(name)) -%}{%- endfor -%}
  {%- do return(quoted | join(', ')) -%}
{% endmacro %}
