{# The names of the fields of a row. The line is read again for them. Spark parses a path once if it is a literal. #}
{% macro get_row_names_sql(name) -%}
  json_object_keys(if(
    _is_wrapped,
    get_json_object(_json_line, '$.payload.{{ name }}'),
    get_json_object(_json_line, '$.{{ name }}')
  ))
{%- endmacro %}


{# The names that lead to the row of this one. #}
{% macro get_path_sql(name) -%}
  if(_is_wrapped, array('', 'payload', {{ name }}), array('', {{ name }}))
{%- endmacro %}
