{# A field that a line lacks is not the same as a field that is null. `missing_fields` says what to do: `refuse` the
   line, `keep` what is stored, or take the field to be `null`, for a producer that leaves nulls out. #}
{% macro get_missing_fields_option_problems(missing_fields, accepted=['refuse', 'keep', 'null']) %}
  {%- if missing_fields not in accepted -%}
    {%- do return([
        "missing_fields is '" ~ missing_fields ~ "'; it takes '" ~ accepted[:-1] | join("', '") ~ "' or '"
        ~ accepted[-1] ~ "'."
    ]) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}
