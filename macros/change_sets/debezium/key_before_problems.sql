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
