{# The columns of an image as text, `_text_<name>`, and in the declared types. `fields` has the expressions of the
   fields, `path` the names that lead to their object. As in get_parsed_lines_sql, a generator is a fence to the
   optimizer: each value is cast only once, and not again for each check. #}
{% macro get_typed_columns_sql(
    images, path, fields, columns, encodings, toasted=[], prefix='', unavailable='__debezium_unavailable_value'
) -%}
  {%- set members = '_members' ~ prefix -%}
  select *
  from (
    select
      *,
      array({{ versioned_collapsing.get_placeholders_sql(unavailable) }}) as _placeholders{{ prefix }},
      {%- for name, type in columns.items() %}
      {{ versioned_collapsing.get_text_sql(
          versioned_collapsing.get_field_text_sql(fields[name], name, type, encodings.get(name), members),
          type,
          encodings.get(name),
          name in toasted,
          unavailable,
      ) }} as _text_{{ prefix ~ name }}{{ ',' if not loop.last }}
      {%- endfor %}
    from ({{ versioned_collapsing._get_images_with_members_sql(images, path, fields, columns, encodings, members) }})
  )
  lateral view inline(array(struct(
    {%- for name, type in columns.items() %}
    {%- set text = '_text_' ~ prefix ~ name %}
    {{ versioned_collapsing.get_typed_sql(text, type, encodings.get(name)) }}{{ ',' if not loop.last }}
    {%- endfor %}
  ))) as {{ prefix }}{{ columns | join(', ' ~ prefix) }}
{%- endmacro %}
