{# The columns of a query as ClickHouse describes them, each type on one line. dbt-clickhouse cannot be asked, because
   it calls every FixedString a String. #}
{% macro read_query_columns(sql) %}
  {%- set query = 'describe table ' ~ versioned_collapsing.get_subquery_sql(sql) -%}
  {%- do return(
      versioned_collapsing._read_columns(query ~ ' ' ~ versioned_collapsing.get_settings_sql(none,
      {'print_pretty_type_names': 0}))
  ) -%}
{% endmacro %}


{# The columns of a table, by the kind of their default: unless told otherwise, those into which rows can be
   inserted. #}
{% macro read_table_columns(relation, kinds=('', 'DEFAULT')) %}
  {%- set query -%}
    select name, type
    from system.columns
    where database = {{ versioned_collapsing.quote_literal(relation.schema) }}
      and table = {{ versioned_collapsing.quote_literal(relation.identifier) }}
      and default_kind in ({{ versioned_collapsing.quote_literals(kinds) }})
    order by position
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- do return(versioned_collapsing._read_columns(query)) -%}
{% endmacro %}


{% macro _read_columns(query) %}
  {%- set columns = [] -%}
  {%- for row in run_query(query).rows -%}
    {%- do columns.append({'name': row['name'], 'type': row['type']}) -%}
  {%- endfor -%}
  {%- do return(columns) -%}
{% endmacro %}


{# The columns that ClickHouse itself adds to every table of the MergeTree family, such as `_part`. A stored column of
   the same name hides one of them, so that statements that mean ClickHouse's column would read the user's.
   `describe table … settings describe_include_virtual_columns = 1` lists them. #}
{% macro get_virtual_columns() %}
  {%- do return([
      '_part', '_part_index', '_part_starting_offset', '_part_uuid', '_partition_id', '_partition_value',
      '_sample_factor', '_part_offset', '_part_granule_offset', '_part_data_version', '_disk_name', '_distance',
      '_table', '_database', '_row_exists', '_block_number', '_block_offset',
  ]) -%}
{% endmacro %}


{# The problem with columns that have the name of a virtual column; none if there are no such columns. #}
{% macro get_virtual_column_problems(names, what) %}
  {%- set taken = names | select('in', versioned_collapsing.get_virtual_columns()) | list -%}
  {%- do return([
      "columns: " ~ what ~ " has " ~ taken | join(', ') ~ ", which ClickHouse itself adds to every table. Rename "
      ~ ("the column" if taken | length == 1 else "the columns") ~ " in the select."
  ] if taken else []) -%}
{% endmacro %}


{# Stops what reads virtual columns of a table: a column of the user's would be read in their place. #}
{% macro validate_no_virtual_columns(relation, names) %}
  {%- set taken = names | select('in', versioned_collapsing.get_virtual_columns()) | list -%}
  {%- if taken -%}
    {%- do exceptions.raise_compiler_error(
        relation ~ " has " ~ taken | join(', ') ~ ", which hides the column that ClickHouse itself adds to every "
        ~ "table. Rename it: alter table " ~ relation ~ " rename column " ~ adapter.quote(taken[0])
        ~ " to another name."
    ) -%}
  {%- endif -%}
{% endmacro %}
