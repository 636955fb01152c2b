{# A field that a line lacks is not one that is null. What becomes of it is for `missing_fields` to say: `refuse` the
   line, `keep` what is stored, or take it for `null`, as of a producer that leaves nulls out. #}
{% macro get_missing_fields_option_problems(missing_fields, accepted=['refuse', 'keep', 'null']) %}
  {%- if missing_fields not in accepted -%}
    {%- do return([
        "missing_fields is '" ~ missing_fields ~ "'; it takes '" ~ accepted[:-1] | join("', '") ~ "' or '"
        ~ accepted[-1] ~ "'."
    ]) -%}
  {%- endif -%}
  {%- do return([]) -%}
{% endmacro %}
