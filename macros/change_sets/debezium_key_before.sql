{# The key that a row had before an update that changes it, as a struct; null for every other line. If the key stays the
   same, PostgreSQL may send the row before without its key, or not at all. That does not count as another key. #}
{% macro get_key_before_sql(key, columns, encodings) -%}
  {%- set before = [] -%}
  {%- for name in key -%}
    {%- set typed = versioned_collapsing._get_before_typed_sql(name, columns[name], encodings.get(name)) -%}
    {%- do before.append(typed ~ ' as ' ~ name) -%}
  {%- endfor -%}
  if(
    {{ versioned_collapsing._get_key_text_differs_sql(key) }},
    nullif(struct({{ before | join(', ') }}), struct({{ key | join(', ') }})),
    null
  )
{%- endmacro %}


{% macro _get_before_typed_sql(name, type, encoding) %}
  {%- set text = versioned_collapsing._get_before_text_sql(name, type, encoding) -%}
  {%- do return(versioned_collapsing.get_typed_sql(text, type, encoding)) -%}
{% endmacro %}


{% macro _get_before_text_sql(name, type, encoding) %}
  {%- do return(versioned_collapsing.get_text_sql(
      versioned_collapsing.get_field_sql('_before', name), type, encoding, false
  )) -%}
{% endmacro %}


{% macro _get_key_text_differs_sql(key) %}
  {%- set differs = [] -%}
  {%- for name in key -%}
    {%- set before = versioned_collapsing.get_field_sql('_before', name) -%}
    {%- do differs.append(
        'coalesce(' ~ before ~ ' <> ' ~ versioned_collapsing.get_field_sql('_after', name) ~ ', false)'
    ) -%}
  {%- endfor -%}
  {%- do return("(_op = 'u' and (" ~ differs | join(' or ') ~ '))') -%}
{% endmacro %}


{# Why the key before an update cannot be used, as conditions with reasons. If PostgreSQL did not send a value of a row,
   the value cannot be taken from the stored row, because that has another key. #}
{% macro get_key_before_problems(key, columns, encodings, toasted) %}
  {%- set differs = versioned_collapsing._get_key_text_differs_sql(key) -%}
  {%- set problems = [] -%}
  {%- for name in key -%}
    {%- set misfit = versioned_collapsing.get_misfit_sql(
        versioned_collapsing._get_before_text_sql(name, columns[name], encodings.get(name)),
        versioned_collapsing._get_before_typed_sql(name, columns[name], encodings.get(name)),
        columns[name],
    ) -%}
    {%- do problems.append({
        'condition': differs ~ ' and ' ~ versioned_collapsing.get_field_sql('_before', name) ~ ' is null',
        'reason': "'before.key " ~ name ~ " is null'",
    }) -%}
    {%- if misfit -%}
      {%- do problems.append({
          'condition': differs ~ ' and ' ~ misfit,
          'reason': "'before." ~ name ~ " does not fit " ~ columns[name] ~ "'",
      }) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name in toasted -%}
    {%- do problems.append({
        'condition': '_key_before is not null and _text_' ~ name ~ ' is null and '
            ~ versioned_collapsing.get_field_sql('_after', name) ~ ' is not null',
        'reason': "'" ~ name ~ " is unavailable'",
    }) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
