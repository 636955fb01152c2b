{# The lines of a source as Debezium's envelopes: `_op`, `_before` and `_after`, of which these columns are read, as
   text, and what the version is made of. Debezium's converter puts an envelope into `payload` when it sends its
   schema. #}
{% macro get_envelopes_sql(source, version, before, after) -%}
  {%- set fields = ['op', 'before', 'after'] + versioned_collapsing.get_debezium_version_fields(version) -%}
  {%- set envelope -%}
    op: string, before: struct<{{ versioned_collapsing.get_text_fields(before) }}>, after: struct<{{ versioned_collapsing.get_text_fields(after) }}>{{ versioned_collapsing.get_debezium_version_type(version) }}
  {%- endset -%}
  select
    *,
    {%- for field in fields %}
    coalesce(_value.{{ field }}, _value.payload.{{ field }}) as _{{ field | replace('.', '_') }}{{ ',' if not loop.last }}
    {%- endfor %}
  from (
    {{ versioned_collapsing.get_parsed_lines_sql(source, envelope ~ ', payload: struct<' ~ envelope ~ '>') }}
  )
{%- endmacro %}


{# The row that counts, as JSON. It is read from the line again: only who looks for unknown fields asks for it. #}
{% macro get_image_json_sql() %}
  {%- set path = "if(_op = 'd', 'before', 'after')" -%}
  {%- do return("coalesce(get_json_object(_raw_line, concat('$.', " ~ path ~ ")), get_json_object(_raw_line, concat('$.payload.', " ~ path ~ ')))') -%}
{% endmacro %}


{# The names that lead to the row of this one. #}
{% macro get_path_sql(name) -%}
  if(if({{ name }} = 'before', _value.before is null, _value.after is null), array('', 'payload', {{ name }}), array('', {{ name }}))
{%- endmacro %}


{# Why an envelope cannot be used, whatever its row is. A tombstone that comes with a schema says nothing. #}
{% macro get_envelope_problems(ops) %}
  {%- do return([
      {'condition': "_op is null and _raw_line rlike '\"payload\" *: *null *[,}]'", 'reason': 'null'},
      {'condition': '_op is null', 'reason': "'op is missing'"},
      {'condition': "_op not in ('" ~ ops | join("', '") ~ "')", 'reason': "concat('unknown op ', _op)"},
      {'condition': "_op = 'd' and _before is null", 'reason': "'before image is missing'"},
      {'condition': "_op in ('c', 'r', 'u') and _after is null", 'reason': "'after image is missing'"},
  ]) -%}
{% endmacro %}
