{# The table in which a change set keeps the lines that it takes from a staging model, parsed. #}
{% macro get_parsed_lines_relation(change_set, events) %}
  {%- set identifier = change_set.identifier ~ '__' ~ events.identifier -%}
  {%- do return(change_set.incorporate(path={'identifier': identifier}, type='table')) -%}
{% endmacro %}
