{# Why an envelope cannot be used, whatever its row is. A tombstone with a schema around it is no problem: it says
   nothing. #}
{% macro get_envelope_problems(ops) %}
  {%- set is_tombstone -%}
    _op is null
      and array_contains(json_object_keys(_json_line), 'payload')
      and size(array_except(json_object_keys(_json_line), array('schema', 'payload'))) = 0
      and get_json_object(_json_line, '$.payload') is null
  {%- endset -%}
  {%- do return([
      {'condition': '_passed_over is not null', 'reason': 'null'},
      {'condition': is_tombstone, 'reason': 'null'},
      {'condition': "startswith(_op, '!')", 'reason': 'substr(_op, 2)'},
      {'condition': '_op is null', 'reason': "'op is missing'"},
      {'condition': "_op not in ('" ~ ops | join("', '") ~ "')", 'reason': "concat('unknown op ', _op)"},
      {'condition': "_op = 'd' and _before is null", 'reason': "'before image is missing'"},
      {'condition': "_op in ('c', 'r', 'u') and _after is null", 'reason': "'after image is missing'"},
  ]) -%}
{% endmacro %}
