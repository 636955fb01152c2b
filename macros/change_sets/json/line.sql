{# A line without the byte order mark that it may have if files were joined. #}
{% macro get_json_line_sql(line) -%}
  if(startswith({{ line }}, '\uFEFF'), substr({{ line }}, 2), {{ line }})
{%- endmacro %}
