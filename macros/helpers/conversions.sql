{# Whether ClickHouse can convert one type to another in a way that get_problem_sql can check. Tuples with other names
   or of another length would lose elements, and a Variant takes only its own types. #}
{% macro can_convert(given_type, type) %}
  {%- set base, given = versioned_collapsing.get_base_type(type), versioned_collapsing.get_base_type(given_type) -%}
  {%- if base == given -%}
    {%- do return(true) -%}
  {%- elif versioned_collapsing.get_value_text_sql('x', given_type, type) -%}
    {%- do return('Map' not in versioned_collapsing.get_type_words(base)) -%}
  {%- elif base.startswith('Variant(') -%}
    {%- set known = versioned_collapsing.get_type_arguments(base) -%}
    {%- set given_types = versioned_collapsing.get_type_arguments(given) if given.startswith('Variant(')
        else [given] -%}
    {%- do return(given_types | reject('in', known) | list == []) -%}
  {%- elif not (versioned_collapsing.has_parts(base) or versioned_collapsing.has_parts(given)) -%}
    {%- do return(true) -%}
  {%- elif base.startswith(('String', 'Dynamic', 'JSON')) -%}
    {%- do return(true) -%}
  {%- elif given.split('(')[0] != base.split('(')[0] -%}
    {%- do return(false) -%}
  {%- elif base.startswith('Tuple(') -%}
    {%- do return(versioned_collapsing._can_convert_tuple(given, base)) -%}
  {%- endif -%}
  {%- set types = versioned_collapsing.get_type_arguments(base) -%}
  {%- for part in versioned_collapsing.get_type_arguments(given) -%}
    {%- if not versioned_collapsing.can_convert(part, types[loop.index0]) -%}
      {%- do return(false) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(true) -%}
{% endmacro %}


{% macro _can_convert_tuple(given_type, type) %}
  {%- set given = versioned_collapsing.get_tuple_elements(given_type) -%}
  {%- set wanted = versioned_collapsing.get_tuple_elements(type) -%}
  {%- set given_names = given | map(attribute='name') | select | list -%}
  {%- set names = wanted | map(attribute='name') | select | list -%}
  {%- if given | length != wanted | length or (given_names and names
      and given_names | sort(case_sensitive=true) != names | sort(case_sensitive=true)) -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- for pair in versioned_collapsing.get_tuple_pairs('x', given_type, type) -%}
    {%- if not versioned_collapsing.can_convert(pair.given_type, pair.type) -%}
      {%- do return(false) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(true) -%}
{% endmacro %}
