{# Those staged tables, of the ones that an apply is completed from, that are not there. #}
{% macro read_missing_tables(target_relation, unfinished) %}
  {%- set needed = [] -%}
  {%- for role in versioned_collapsing.get_needed_roles(unfinished) -%}
    {%- do needed.append(versioned_collapsing.get_helper_relation(target_relation, role)) -%}
  {%- endfor -%}
  {%- set found = versioned_collapsing.read_tables(needed) -%}
  {%- do return(needed | rejectattr('identifier', 'in', found) | map('string') | list) -%}
{% endmacro %}


{# What the run that died had staged, and is needed to go on from where it was. #}
{% macro get_needed_roles(unfinished) %}
  {%- if unfinished.status == 'chunk applied' -%}
    {%- do return(['change_set']) -%}
  {%- elif unfinished.is_stream -%}
    {%- do return(['signed']) -%}
  {%- endif -%}
  {%- set of_chunk = ['changes', 'uncollapsed', 'torn', 'signed'] if unfinished.is_journal else ['changes'] -%}
  {%- do return(of_chunk + (['change_set'] if unfinished.chunks > 1 else [])) -%}
{% endmacro %}
