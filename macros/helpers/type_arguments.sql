{# What stands between the outer parentheses of a type, cut at its commas: `Map(String, Int8)` has String and
   Int8. #}
{% macro get_type_arguments(type) %}
  {%- do return(versioned_collapsing.cut_at_commas(type[type.index('(') + 1 : -1])) -%}
{% endmacro %}


{# The parts of a Tuple, each with its name, which may be none. #}
{% macro get_tuple_elements(type) %}
  {%- set elements = [] -%}
  {%- for argument in versioned_collapsing.get_type_arguments(type) -%}
    {%- set named = modules.re.fullmatch('(`(?:[^`\\\\]|\\\\.)*`|\\w+) +(.+)', argument, modules.re.S) -%}
    {%- do elements.append({
        'name': named[1].strip('`') if named else none,
        'type': named[2] if named else argument,
    }) -%}
  {%- endfor -%}
  {%- do return(elements) -%}
{% endmacro %}


{# The names of an Enum, or its numbers, as literals. #}
{% macro get_enum_values(type, is_name) %}
  {%- set found = modules.re.findall("('(?:[^'\\\\]|\\\\.)*') = (-?\\d+)", type) -%}
  {%- do return(found | map(attribute=0 if is_name else 1) | list) -%}
{% endmacro %}
