{# The images. If an image has a nested value in a column of text, it comes with its nested members. #}
{% macro _get_images_with_members_sql(images, path, fields, columns, encodings, members) -%}
  {%- set nested = [] -%}
  {%- for name, type in columns.items() if versioned_collapsing.is_text(type, encodings.get(name)) -%}
    {%- do nested.append(versioned_collapsing.get_is_nested_sql(fields[name])) -%}
  {%- endfor -%}
  {%- set found = versioned_collapsing.get_members_sql('_json_line', path) -%}
  select *
  from {{ images }}
  lateral view explode(array(
    {{ 'if(' ~ nested | join(' or ') ~ ', ' ~ found ~ ', null)' if nested else 'cast(null as map<string, string>)' }}
  )) as {{ members }}
{%- endmacro %}


{# A field as text; a nested value as it stands on the line. #}
{% macro get_field_text_sql(field, name, type, encoding, members) %}
  {%- do return(
      'if(' ~ field ~ ' is null, null, coalesce(nullif(' ~ members ~ "['" ~ name ~ "'], ''), " ~ field ~ '))'
      if versioned_collapsing.is_text(type, encoding) else field
  ) -%}
{% endmacro %}
