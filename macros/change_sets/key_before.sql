{# The key that a row had before an update that changes it, as a struct; null for every other line. A row before without
   its key, or without anything, as PostgreSQL sends it where the key stays, says nothing of it. #}
{% macro get_key_before_sql(key, columns, encodings) -%}
  {%- set before = [] -%}
  {%- for name in key -%}
    {%- do before.append(versioned_collapsing._get_before_typed_sql(name, columns[name], encodings.get(name)) ~ ' as ' ~ name) -%}
  {%- endfor -%}
  if(
    {{ versioned_collapsing._get_key_text_differs_sql(key) }},
    nullif(struct({{ before | join(', ') }}), struct({{ key | join(', ') }})),
    null
  )
{%- endmacro %}


{# Why that key is none, as conditions with reasons. What PostgreSQL did not send of a row cannot be taken from one with
   another key. #}
{% macro get_key_before_problems(key, columns, encodings, toasted) %}
  {%- set differs = versioned_collapsing._get_key_text_differs_sql(key) -%}
  {%- set problems = [] -%}
  {%- for name in key -%}
    {%- set misfit = versioned_collapsing.get_misfit_sql(
        versioned_collapsing._get_before_text_sql(name, columns[name], encodings.get(name)),
        versioned_collapsing._get_before_typed_sql(name, columns[name], encodings.get(name)),
        columns[name],
    ) -%}
    {%- do problems.append({'condition': differs ~ ' and _before.' ~ name ~ ' is null', 'reason': "'before.key " ~ name ~ " is null'"}) -%}
    {%- if misfit -%}
      {%- do problems.append({'condition': differs ~ ' and ' ~ misfit, 'reason': "'before." ~ name ~ " does not fit " ~ columns[name] ~ "'"}) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- for name in toasted -%}
    {%- do problems.append({
        'condition': '_key_before is not null and _text_' ~ name ~ ' is null and _after.' ~ name ~ ' is not null',
        'reason': "'" ~ name ~ " is unavailable'",
    }) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro _get_key_text_differs_sql(key) %}
  {%- set differs = [] -%}
  {%- for name in key -%}
    {%- do differs.append('coalesce(_before.' ~ name ~ ' <> _after.' ~ name ~ ', false)') -%}
  {%- endfor -%}
  {%- do return("(_op = 'u' and (" ~ differs | join(' or ') ~ '))') -%}
{% endmacro %}


{% macro _get_before_text_sql(name, type, encoding) %}
  {%- do return(versioned_collapsing.get_text_sql('_before.' ~ name, type, encoding, false)) -%}
{% endmacro %}


{% macro _get_before_typed_sql(name, type, encoding) %}
  {%- do return(versioned_collapsing.get_typed_sql(versioned_collapsing._get_before_text_sql(name, type, encoding), type, encoding)) -%}
{% endmacro %}
