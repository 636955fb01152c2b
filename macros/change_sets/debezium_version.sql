{# What orders the changes of a row: `source.lsn` (PostgreSQL), `source.pos` (MySQL's binlog: file, position and row),
   `source.gtid` (MySQL's transaction, and the event's place in it), or one of the row's own columns. #}
{% macro get_debezium_version_option_problems(columns, version, servers) %}
  {%- set list_problems = versioned_collapsing.get_list_problems({'servers': servers}, ['servers']) -%}
  {%- if list_problems -%}
    {%- do return(list_problems) -%}
  {%- elif version == 'source.gtid' and not servers -%}
    {%- do return([
        "servers: is empty. The transactions of two servers have no order of their own: with version 'source.gtid', list the "
        ~ "servers' UUIDs in the order in which they have been the primary."
    ]) -%}
  {%- elif version in ('source.lsn', 'source.pos', 'source.gtid') -%}
    {%- do return([]) -%}
  {%- elif version not in columns -%}
    {%- do return(["version: is '" ~ version ~ "'; it takes 'source.lsn', 'source.pos', 'source.gtid' or one of columns."]) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing.get_version_column_problems(columns, version)) -%}
{% endmacro %}


{# What an envelope has of it, for a declared schema. #}
{% macro get_debezium_version_type(version) %}
  {%- do return({
      'source.lsn': ', source: struct<lsn: string>',
      'source.pos': ', source: struct<file: string, pos: string, row: string>',
      'source.gtid': ', source: struct<gtid: string>, transaction: struct<total_order: string>',
  }.get(version, '')) -%}
{% endmacro %}


{% macro get_debezium_version_fields(version) %}
  {%- do return({
      'source.lsn': ['source.lsn'],
      'source.pos': ['source.file', 'source.pos', 'source.row'],
      'source.gtid': ['source.gtid', 'transaction.total_order'],
  }.get(version, [])) -%}
{% endmacro %}


{# MySQL's places are numbers of 38 digits. `source.pos`: the file's number, 12 digits for the position in it, 6 for the
   row in the binlog event. `source.gtid`: the server's place in `servers`, 19 digits for its transaction, 12 for the
   event in that; 0 for rows of the first snapshot, which have none. They are text, in which they have the same order:
   ClickHouse's Int128 can be made of text, and not be compared with Spark's decimals. #}
{% macro get_debezium_version_sql(version, servers) %}
  {%- if version == 'source.lsn' -%}
    {%- do return(versioned_collapsing.get_typed_sql('_source_lsn', 'bigint', none)) -%}
  {%- elif version == 'source.pos' -%}
    {%- do return(versioned_collapsing._get_number_sql([
        "nullif(regexp_extract(_source_file, '[.]([0-9]{1,20})$', 1), '')",
        versioned_collapsing._get_digits_sql('_source_pos', 12),
        versioned_collapsing._get_digits_sql("coalesce(_source_row, '0')", 6),
    ])) -%}
  {%- elif version == 'source.gtid' -%}
    {%- set number = versioned_collapsing._get_number_sql([
        'nullif(array_position(' ~ versioned_collapsing._text_array(servers | map('lower')) ~ ", lower(substring_index(_source_gtid, ':', 1))), 0)",
        versioned_collapsing._get_digits_sql("substring(_source_gtid, locate(':', _source_gtid) + 1)", 19),
        versioned_collapsing._get_digits_sql('_transaction_total_order', 12),
    ]) -%}
    {%- do return("if(_op = 'r' and nullif(_source_gtid, '') is null, repeat('0', 38), " ~ number ~ ')') -%}
  {%- endif -%}
  {%- do return(version) -%}
{% endmacro %}


{% macro _get_number_sql(parts) %}
  {%- do return('lpad(concat(' ~ parts | join(', ') ~ "), 38, '0')") -%}
{% endmacro %}


{# Text as digits of a fixed number; null for what are none, or more. #}
{% macro _get_digits_sql(text, length) %}
  {%- do return('if(' ~ text ~ " rlike '^[0-9]{1," ~ length ~ "}$', lpad(" ~ text ~ ', ' ~ length ~ ", '0'), null)") -%}
{% endmacro %}


{% macro get_debezium_version_problems(version) %}
  {%- do return({
      'source.lsn': [
          {'condition': '_source_lsn is null', 'reason': "'source.lsn is missing'"},
          {'condition': versioned_collapsing.get_misfit_sql('_source_lsn', '_version', 'bigint'), 'reason': "'source.lsn does not fit bigint'"},
      ],
      'source.pos': [
          {'condition': '_source_file is null', 'reason': "'source.file is missing'"},
          {'condition': '_source_pos is null', 'reason': "'source.pos is missing'"},
          {'condition': '_version is null', 'reason': "'source.file and source.pos are no position'"},
      ],
      'source.gtid': [
          {'condition': "nullif(_source_gtid, '') is null and _op <> 'r'", 'reason': "'source.gtid is missing'"},
          {'condition': '_version is null and _transaction_total_order is null', 'reason': "'transaction.total_order is missing'"},
          {'condition': "_source_gtid like '%:%:%'", 'reason': "'source.gtid has a tag, whose transactions have no order with others'"},
          {'condition': '_version is null', 'reason': "'source.gtid is no transaction of a known server'"},
      ],
  }.get(version, [versioned_collapsing.get_missing_version_problem(version)])) -%}
{% endmacro %}
