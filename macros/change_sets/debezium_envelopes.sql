{# The lines of a source as Debezium's envelopes: `_op`, `_before`, `_after`, what the version is made of, and
   `_image`, the row that counts. Debezium's converter puts an envelope into `payload` when it sends its schema. #}
{% macro get_envelopes_sql(source, version) -%}
  {%- set fields = ['op', 'before', 'after'] + versioned_collapsing.get_debezium_version_fields(version) -%}
  {%- set envelope -%}
    op: string, before: map<string, string>, after: map<string, string>{{ versioned_collapsing.get_debezium_version_type(version) }}
  {%- endset -%}
  select *, case _op when 'd' then _before when 't' then null else _after end as _image
  from (
    select
      *,
      {%- for field in fields %}
      coalesce(_value.{{ field }}, _value.payload.{{ field }}) as _{{ field | replace('.', '_') }}{{ ',' if not loop.last }}
      {%- endfor %}
    from (
      {{ versioned_collapsing.get_parsed_lines_sql(source, 'struct<' ~ envelope ~ ', payload: struct<' ~ envelope ~ '>>') }}
    )
  )
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
