{% macro get_payload_problems(
    columns, places, required, ranges, toasted=[], prefix='', label=''
) %}
  {%- set problems = [] -%}
  {%- for name in required if name not in places -%}
    {%- set is_left_out = ' and ' ~ versioned_collapsing.get_field_sql('_after', name) ~ ' is null'
        if name in toasted else '' -%}
    {%- do problems.append({
        'condition': '_text_' ~ prefix ~ name ~ ' is null' ~ is_left_out,
        'reason': "'" ~ label ~ name ~ " is null'",
    }) -%}
  {%- endfor -%}
  {%- for name, type in columns.items() if name not in places -%}
    {%- do problems.extend(versioned_collapsing.get_value_problems(
        name, type, ranges, name in toasted, prefix, label
    )) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
