{# The columns that a delete needs too. #}
{% macro get_places(key, columns, version) %}
  {%- do return(key + ([version] if version in columns and version not in key else [])) -%}
{% endmacro %}
