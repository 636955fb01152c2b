{% macro cut_at_commas(text) %}
  {%- set arguments = [] -%}
  {%- set at = namespace(start=0) -%}
  {%- for token in versioned_collapsing.get_brackets(text) if token.text == ',' and token.depth == 0 -%}
    {%- do arguments.append(text[at.start : token.position] | trim) -%}
    {%- set at.start = token.position + 1 -%}
  {%- endfor -%}
  {%- do arguments.append(text[at.start :] | trim) -%}
  {%- do return(arguments) -%}
{% endmacro %}


{# Where the first bracket of a text is closed. #}
{% macro get_closing_position(text) %}
  {%- for token in versioned_collapsing.get_brackets(text) if token.text != ',' and token.depth == 0 -%}
    {%- do return(token.position) -%}
  {%- endfor -%}
  {%- do return(none) -%}
{% endmacro %}


{# The commas and brackets of a type or an expression, without those inside quoted names and string literals. Each has
   its position, and the number of brackets that are open after it. #}
{% macro get_brackets(text) %}
  {%- set tokens = [] -%}
  {%- set at = namespace(depth=0, position=0) -%}
  {%- set pattern = "'(?:[^'\\\\]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`|[\\[\\](),]" -%}
  {%- set between = modules.re.split(pattern, text) -%}
  {%- for mark in modules.re.findall(pattern, text) -%}
    {%- set at.position = at.position + between[loop.index0] | length -%}
    {%- set at.depth = at.depth + (1 if mark in '([' else -1 if mark in ')]' else 0) -%}
    {%- if mark | length == 1 -%}
      {%- do tokens.append({'text': mark, 'position': at.position, 'depth': at.depth}) -%}
    {%- endif -%}
    {%- set at.position = at.position + mark | length -%}
  {%- endfor -%}
  {%- do return(tokens) -%}
{% endmacro %}


{# `(a, b)` becomes `a, b`; `(a) + (b)` stays. #}
{% macro strip_parentheses(text) %}
  {%- set is_tuple = text.startswith('(') and versioned_collapsing.get_closing_position(text) == text | length - 1 -%}
  {%- do return(text[1:-1] if is_tuple else text) -%}
{% endmacro %}
