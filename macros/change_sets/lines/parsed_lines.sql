{# Each line with `_value`, the one JSON object on it, and `_is_json`. A generator is a fence to the optimizer: without
   it, each use of a field would parse the line again. `exact` has the fields whose text must be as it is on the line,
   with the paths to them. `type` is the type of the object, and `json` its text. #}
{% macro get_parsed_lines_sql(lines, type, exact, json='') -%}
  select
    lines.*,
    _values[0] as _value,
    {{ versioned_collapsing.get_is_json_sql('_values') }} as _is_json
  from (
    select *, {{ json or versioned_collapsing.get_json_line_sql('_raw_line') }} as _json_line
    from ({{ lines }})
  ) as lines
  lateral view explode({{ versioned_collapsing.get_exact_json_values_sql('_json_line', type, exact) }}) as _values
{%- endmacro %}


{# These fields, each as the text of its value. #}
{% macro get_text_fields(names) %}
  {%- do return(names | join(': string, ') ~ ': string') -%}
{% endmacro %}
