{# The lines of a source as Debezium's envelopes: `_op`, `_before` and `_after`, of which these columns are read, as
   text, what the version is made of, and `_passed_over`. Debezium's converter puts an envelope into `payload` when it
   sends its schema. A row may have a column of that name too, and has then a key beside it. #}
{% macro get_envelopes_sql(source, version, key, before, after) -%}
  {%- set fields = ['op', 'before', 'after'] + versioned_collapsing.get_debezium_version_fields(version) -%}
  {%- set envelope -%}
    op: string, before: struct<{{ versioned_collapsing.get_text_fields(before) }}>, after: struct<{{ versioned_collapsing.get_text_fields(after) }}>{{ versioned_collapsing.get_debezium_version_type(version) }}
  {%- endset -%}
  {%- set row_fields = [] -%}
  {%- for name in key if name | lower not in ('op', 'before', 'after', 'source', 'transaction', 'payload') -%}
    {%- do row_fields.append(name) -%}
  {%- endfor -%}
  {%- set is_wrapped = [] -%}
  {%- for name in ['op', 'before', 'after'] + row_fields -%}
    {%- do is_wrapped.append('_value.' ~ name ~ ' is null') -%}
  {%- endfor -%}
  select
    *,
    {{ versioned_collapsing._get_passed_over_sql(after) }} as _passed_over
  from (
    select
      *,
      {%- for field in fields %}
      if({{ is_wrapped | join(' and ') }}, _value.payload.{{ field }}, _value.{{ field }}) as _{{ field | replace('.', '_') }}{{ ',' if not loop.last }}
      {%- endfor %}
    from (
      {{ versioned_collapsing.get_parsed_lines_sql(
          source,
          envelope ~ ', payload: struct<' ~ envelope ~ '>' ~ (', ' ~ versioned_collapsing.get_text_fields(row_fields) if row_fields else ''),
      ) }}
    )
  )
{%- endmacro %}


{# What Debezium sends beside the changes of rows, by name: it says nothing of this table. A line without an operation
   is known by its fields, all of which must be of the message; it is read again, which few lines are. #}
{% macro _get_passed_over_sql(columns) -%}
  {%- set message -%}
    if(size(array_except(json_object_keys(_json_line), array('schema', 'payload'))) = 0, get_json_object(_json_line, '$.payload'), _json_line)
  {%- endset -%}
  {%- set times = ['ts_ms', 'ts_us', 'ts_ns'] -%}
  case
    when _op = 'm' then 'message'
    when _op is not null or not _is_json then null
    else element_at(transform(array(json_object_keys({{ message }})), _fields -> case
      {%- if times | select('in', columns) | list | length == 0 %}
      when array_contains(_fields, 'ts_ms')
        and size(array_except(_fields, {{ versioned_collapsing._text_array(times) }})) = 0
        then 'heartbeat'
      {%- endif %}
      when array_contains(_fields, 'event_count') and array_contains(_fields, 'data_collections')
        and size(array_except(_fields, {{ versioned_collapsing._text_array(['status', 'id', 'event_count', 'data_collections'] + times) }})) = 0
        and get_json_object({{ message }}, '$.status') in ('BEGIN', 'END')
        then 'transaction'
      when array_contains(_fields, 'ddl') and array_contains(_fields, 'databaseName')
        and size(array_except(_fields, {{ versioned_collapsing._text_array(['source', 'databaseName', 'schemaName', 'ddl', 'tableChanges'] + times) }})) = 0
        then 'schema change'
    end), 1)
  end
{%- endmacro %}


{# The row that counts, as JSON. It is read from the line again: only who looks for fields asks for it. #}
{% macro get_image_json_sql(image="if(_op = 'd', 'before', 'after')") %}
  {%- do return(
      "coalesce(get_json_object(_json_line, concat('$.', " ~ image ~ ")), get_json_object(_json_line, concat('$.payload.', " ~ image ~ ')))'
  ) -%}
{% endmacro %}


{# The names that lead to the row of this one. #}
{% macro get_path_sql(name) -%}
  if(if({{ name }} = 'before', _value.before is null, _value.after is null), array('', 'payload', {{ name }}), array('', {{ name }}))
{%- endmacro %}


{# Why an envelope cannot be used, whatever its row is. A tombstone that comes with a schema says nothing. #}
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
      {'condition': '_op is null', 'reason': "'op is missing'"},
      {'condition': "_op not in ('" ~ ops | join("', '") ~ "')", 'reason': "concat('unknown op ', _op)"},
      {'condition': "_op = 'd' and _before is null", 'reason': "'before image is missing'"},
      {'condition': "_op in ('c', 'r', 'u') and _after is null", 'reason': "'after image is missing'"},
  ]) -%}
{% endmacro %}
