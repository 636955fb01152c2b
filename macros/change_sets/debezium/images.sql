{# The names of the fields of a row, for which the line is read again. The path is a literal, because Spark then parses
   it only once. #}
{% macro get_row_names_sql(name) -%}
  json_object_keys(if(
    _is_wrapped,
    get_json_object(_json_line, '$.payload.{{ name }}'),
    get_json_object(_json_line, '$.{{ name }}')
  ))
{%- endmacro %}


{# The names that lead to the row that `name` says. #}
{% macro get_path_sql(name) -%}
  if(_is_wrapped, array('', 'payload', {{ name }}), array('', {{ name }}))
{%- endmacro %}
