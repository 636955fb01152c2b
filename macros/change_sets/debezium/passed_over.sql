{# The name of a message that Debezium sends besides the changes of rows; it says nothing about this table. A line
   without an operation is known by its fields: all of them must be fields of the message. Such a line is read again,
   but there are few of them. #}
{% macro _get_passed_over_sql(columns) -%}
  {%- set message -%}
    if(
      size(array_except(json_object_keys(_json_line), array('schema', 'payload'))) = 0,
      get_json_object(_json_line, '$.payload'),
      _json_line
    )
  {%- endset -%}
  {%- set times = ['ts_ms', 'ts_us', 'ts_ns'] -%}
  {%- set of_transaction = ['status', 'id', 'event_count', 'data_collections'] + times -%}
  {%- set of_schema = ['source', 'databaseName', 'schemaName', 'ddl', 'tableChanges'] + times -%}
  case
    when _op = 'm' then 'message'
    when _op is not null or not _is_json then null
    else element_at(transform(array(json_object_keys({{ message }})), _fields -> case
      {%- if times | select('in', columns) | list | length == 0 %}
      when array_contains(_fields, 'ts_ms')
        and size(array_except(_fields, {{ versioned_collapsing.get_text_array_sql(times) }})) = 0
        then 'heartbeat'
      {%- endif %}
      when array_contains(_fields, 'event_count') and array_contains(_fields, 'data_collections')
        and size(array_except(_fields, {{ versioned_collapsing.get_text_array_sql(of_transaction) }})) = 0
        and get_json_object({{ message }}, '$.status') in ('BEGIN', 'END')
        then 'transaction'
      when array_contains(_fields, 'ddl') and array_contains(_fields, 'databaseName')
        and size(array_except(_fields, {{ versioned_collapsing.get_text_array_sql(of_schema) }})) = 0
        then 'schema change'
    end), 1)
  end
{%- endmacro %}
