{# The name of a message that Debezium sends besides the changes of rows; it says nothing about this table. A line
   without an operation is known by its fields: all of them must be fields of the message. Such a line is read again,
   but there are few of them. #}
{% macro _get_passed_over_sql(columns, tables=[]) -%}
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
    when _json_line = 'null' and left(ltrim(_raw_line), 4) <> 'null' then 'tombstone'
    when _op = 'm' then 'message'
    {%- if tables %}
    when not {{ versioned_collapsing._get_is_of_table_sql(tables) }}
      then concat('table ', {{ versioned_collapsing.get_source_table_sql() }})
    {%- endif %}
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


{# The table that an event is of, with its schema, or with its database where there are no schemas; null if the event
   does not say. #}
{% macro get_source_table_sql() %}
  {%- set table = "coalesce(nullif(_source.table, ''), _source.collection)" -%}
  {%- do return(
      'if(' ~ table ~ " is null, null, concat_ws('.', coalesce(nullif(_source.schema, ''), nullif(_source.db, '')), "
      ~ table ~ '))'
  ) -%}
{% endmacro %}


{# Whether an event is of one of the tables, by name, by schema and name, or by a pattern with `*`; null if it does not
   say of which table it is. #}
{% macro _get_is_of_table_sql(tables) %}
  {%- set patterns = [] -%}
  {%- for table in tables -%}
    {%- set pattern = modules.re.escape(table) | replace('\\*', '[^.]*') -%}
    {%- do patterns.append(pattern if '.' in table else '(?:[^.]*[.])?' ~ pattern) -%}
  {%- endfor -%}
  {%- do return(
      versioned_collapsing.get_source_table_sql() ~ " rlike r'^(?:" ~ patterns | join('|') ~ ")$'"
  ) -%}
{% endmacro %}


{# The problems with the argument `table` of a parser. #}
{% macro get_table_problems(tables) %}
  {%- set problems = [] -%}
  {%- for table in tables
      if table is not string or not modules.re.match('[^.\\s\'\"]+([.][^.\\s\'\"]+)?$', table) -%}
    {%- do problems.append(
        "table: '" ~ table ~ "' is no name of a table; it takes a name, with or without the schema before it, or a "
        ~ "pattern such as 'shop_*.orders', or a list of these."
    ) -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}
