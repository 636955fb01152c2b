{# Whether a line says nothing: a blank one, or Kafka's tombstone. #}
{% macro get_is_blank_sql(line) %}
  {%- do return(line ~ " rlike r'^[\\s\\uFEFF]*+(?:null)?[\\s\\uFEFF]*+$'") -%}
{% endmacro %}


{# Whether a line says nothing, or is a tombstone of Kafka's with Debezium's schema around it. #}
{% macro get_says_nothing_sql(line) -%}
  {%- set json = versioned_collapsing.get_json_line_sql(line) -%}
  ({{ versioned_collapsing.get_is_blank_sql(line) }} or (
    array_contains(json_object_keys({{ json }}), 'payload')
    and size(array_except(json_object_keys({{ json }}), array('schema', 'payload'))) = 0
    and get_json_object({{ json }}, '$.payload') is null
  ))
{%- endmacro %}
