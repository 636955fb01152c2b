{# What stands between the outer parentheses of a type, cut at its commas: `Map(String, Int8)` has String and
   Int8. #}
{% macro get_type_arguments(type) %}
  {%- do return(versioned_collapsing.cut_at_commas(type[type.index('(') + 1 : -1])) -%}
{% endmacro %}


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


{# The commas and brackets of a type or an expression that are in no name and no text: where each is, and how many
   brackets are open after it. #}
{% macro get_brackets(text) %}
  {%- set tokens = [] -%}
  {%- set at = namespace(depth=0) -%}
  {%- for token in modules.re.finditer("'(?:[^'\\\\]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`|[][(),]", text) -%}
    {%- set mark = token.group() -%}
    {%- set at.depth = at.depth + (1 if mark in '([' else -1 if mark in ')]' else 0) -%}
    {%- if mark | length == 1 -%}
      {%- do tokens.append({'text': mark, 'position': token.start(), 'depth': at.depth}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(tokens) -%}
{% endmacro %}


{# The parts of a Tuple, each with its name, which may be none. #}
{% macro get_tuple_elements(type) %}
  {%- set elements = [] -%}
  {%- for argument in versioned_collapsing.get_type_arguments(type) -%}
    {%- set named = modules.re.fullmatch('(`(?:[^`\\\\]|\\\\.)*`|\\w+) +(.+)', argument, modules.re.S) -%}
    {%- do elements.append({
        'name': named.group(1).strip('`') if named else none,
        'type': named.group(2) if named else argument,
    }) -%}
  {%- endfor -%}
  {%- do return(elements) -%}
{% endmacro %}


{# The names of an Enum, or its numbers, as literals. #}
{% macro get_enum_values(type, is_name) %}
  {%- set found = modules.re.findall("('(?:[^'\\\\]|\\\\.)*') = (-?\\d+)", type) -%}
  {%- do return(found | map(attribute=0 if is_name else 1) | list) -%}
{% endmacro %}


{# `(a, b)` becomes `a, b`; `(a) + (b)` stays. #}
{% macro strip_parentheses(text) %}
  {%- set is_tuple = text.startswith('(') and versioned_collapsing.get_closing_position(text) == text | length - 1 -%}
  {%- do return(text[1:-1] if is_tuple else text) -%}
{% endmacro %}
