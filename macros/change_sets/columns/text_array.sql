{% macro get_text_array_sql(names) %}
  {%- do return("array('" ~ names | join("', '") ~ "')") -%}
{% endmacro %}
