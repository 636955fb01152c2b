{# A field of an object: of a struct, or of a map where it matters which fields there are. #}
{% macro get_field_sql(object, name) %}
  {%- do return(object ~ "['" ~ name ~ "']") -%}
{% endmacro %}
