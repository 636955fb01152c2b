{# What orders the changes of a row: `source.lsn` (PostgreSQL), `source.pos` (MySQL's binlog: file, position and row),
   `source.gtid` (MySQL's transaction, and the event's place in it), or one of the row's own columns. #}
{% macro get_debezium_version_option_problems(columns, version, servers) %}
  {%- set list_problems = versioned_collapsing.get_list_problems({'servers': servers}, ['servers']) -%}
  {%- if list_problems -%}
    {%- do return(list_problems) -%}
  {%- elif version == 'source.gtid' and not servers -%}
    {%- do return([
        "servers is empty. Transactions of different servers have no common order. With version 'source.gtid', list "
        ~ "the UUIDs of the servers in the order in which they were the primary."
    ]) -%}
  {%- elif version in ('source.lsn', 'source.pos', 'source.gtid') -%}
    {%- do return([]) -%}
  {%- elif version not in columns -%}
    {%- do return([
        "version is '" ~ version ~ "'; it takes 'source.lsn', 'source.pos', 'source.gtid' or one of columns."
    ]) -%}
  {%- endif -%}
  {%- do return(versioned_collapsing.get_version_column_problems(columns, version)) -%}
{% endmacro %}
