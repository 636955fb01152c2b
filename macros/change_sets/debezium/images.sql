{# The row that counts, as JSON. It is read from the line again: only who looks for fields asks for it. #}
{% macro get_image_json_sql() -%}
  if(
    _op = 'd',
    {{ versioned_collapsing.get_row_json_sql('before') }},
    {{ versioned_collapsing.get_row_json_sql('after') }}
  )
{%- endmacro %}


{# Spark parses a path once if it is a literal. #}
{% macro get_row_json_sql(name) -%}
  if(
    _is_wrapped,
    get_json_object(_json_line, '$.payload.{{ name }}'),
    get_json_object(_json_line, '$.{{ name }}')
  )
{%- endmacro %}


{# The names that lead to the row of this one. #}
{% macro get_path_sql(name) -%}
  if(_is_wrapped, array('', 'payload', {{ name }}), array('', {{ name }}))
{%- endmacro %}
