{# The key that a row had before an update that changes it, as a struct; null for every other line. If the key stays the
   same, PostgreSQL may send the row before without its key, or not at all. That does not count as another key. #}
{% macro get_key_before_sql(key, columns, encodings) -%}
  {%- set before = [] -%}
  {%- for name in key -%}
    {%- set value = versioned_collapsing._get_before_values(name, columns[name], encodings.get(name)) -%}
    {%- do before.append(value.typed ~ ' as ' ~ name) -%}
  {%- endfor -%}
  if(
    {{ versioned_collapsing._get_key_text_differs_sql(key) }},
    nullif(struct({{ before | join(', ') }}), struct({{ key | join(', ') }})),
    null
  )
{%- endmacro %}


{% macro _get_key_text_differs_sql(key) %}
  {%- set differs = versioned_collapsing.get_texts("coalesce(_before['{}'] <> _after['{}'], false)", key) -%}
  {%- do return("(_op = 'u' and (" ~ differs | join(' or ') ~ '))') -%}
{% endmacro %}


{# A column of the key before the change, as text and in its type. #}
{% macro _get_before_values(name, type, encoding) %}
  {%- set text = versioned_collapsing.get_text_sql("_before['" ~ name ~ "']", type, encoding, false) -%}
  {%- do return({'text': text, 'typed': versioned_collapsing.get_typed_sql(text, type, encoding)}) -%}
{% endmacro %}


{# Why the key before an update cannot be used, as conditions with reasons. If PostgreSQL did not send a value of a row,
   the value cannot be taken from the stored row, because that has another key. #}
{% macro get_key_before_problems(key, columns, encodings, toasted) %}
  {%- set differs = versioned_collapsing._get_key_text_differs_sql(key) -%}
  {%- set problems = [] -%}
  {%- for name in key -%}
    {%- set value = versioned_collapsing._get_before_values(name, columns[name], encodings.get(name)) -%}
    {%- set misfit = versioned_collapsing.get_misfit_sql(value.text, value.typed, columns[name]) -%}
    {%- do problems.append((
        differs ~ " and _before['" ~ name ~ "'] is null", "'before.key " ~ name ~ " is null'"
    )) -%}
    {%- if misfit -%}
      {%- do problems.append((
          differs ~ ' and ' ~ misfit, "'before." ~ name ~ " does not fit " ~ columns[name] ~ "'"
      )) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name in toasted -%}
    {%- do problems.append((
        '_key_before is not null and _text_' ~ name ~ " is null and _after['" ~ name ~ "'] is not null",
        "'" ~ name ~ " is unavailable'",
    )) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
