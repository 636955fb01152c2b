{# The elements of one Tuple that become those of another: by name where both have the same names, otherwise by
   place. #}
{% macro get_tuple_pairs(value, given_type, type) %}
  {%- set given = versioned_collapsing.get_tuple_elements(given_type) -%}
  {%- set wanted = versioned_collapsing.get_tuple_elements(type) -%}
  {%- set names = given | map(attribute='name') | list -%}
  {%- set wanted_names = wanted | map(attribute='name') | map('string') | sort(case_sensitive=true) -%}
  {%- set is_by_name = none not in names and names | sort(case_sensitive=true) == wanted_names -%}
  {%- set pairs = [] -%}
  {%- for element in wanted -%}
    {%- set at = names.index(element.name) if is_by_name else loop.index0 -%}
    {%- do pairs.append({
        'value': 'tupleElement(' ~ value ~ ', ' ~ (at + 1) ~ ')',
        'given_type': given[at].type,
        'type': element.type,
    }) -%}
  {%- endfor -%}
  {%- do return(pairs) -%}
{% endmacro %}
