{# The row that counts, as JSON. It is read from the line again: only who looks for fields asks for it. #}
{% macro get_image_json_sql(image="if(_op = 'd', 'before', 'after')") -%}
  coalesce(
    get_json_object(_json_line, concat('$.', {{ image }})),
    get_json_object(_json_line, concat('$.payload.', {{ image }}))
  )
{%- endmacro %}


{# The names that lead to the row of this one. #}
{% macro get_path_sql(name) -%}
  if(
    if({{ name }} = 'before', _value.before is null, _value.after is null),
    array('', 'payload', {{ name }}),
    array('', {{ name }})
  )
{%- endmacro %}
