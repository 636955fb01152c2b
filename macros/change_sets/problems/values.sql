{# Why the text of a column is no value of its type. #}
{% macro get_value_problems(
    name, type, ranges, is_toasted=false, prefix='', label=''
) %}
  {%- set text = '_text_' ~ prefix ~ name -%}
  {%- set typed = prefix ~ name -%}
  {%- set misfit = versioned_collapsing.get_misfit_sql(text, typed, type) -%}
  {%- set range = ranges.get(name) or versioned_collapsing.get_default_range(type) -%}
  {%- set problems = [] -%}
  {%- if not is_toasted -%}
    {%- do problems.append({
        'condition': 'array_contains(_placeholders' ~ prefix ~ ', ' ~ text ~ ')',
        'reason': "'" ~ label ~ name ~ " is unavailable'",
    }) -%}
  {%- endif -%}
  {%- if misfit -%}
    {%- do problems.append({'condition': misfit, 'reason': "'" ~ label ~ name ~ " does not fit " ~ type ~ "'"}) -%}
  {%- endif -%}
  {%- if range -%}
    {%- do problems.append({
        'condition': typed ~ " not between cast('" ~ range[0] ~ "' as " ~ type ~ ") and cast('" ~ range[1] ~ "' as "
            ~ type ~ ")",
        'reason': "'" ~ label ~ name ~ " is outside " ~ range[0] ~ " to " ~ range[1] ~ "'",
    }) -%}
  {%- endif -%}
  {%- do return(problems) -%}
{% endmacro %}
