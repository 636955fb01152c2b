{# The version of an event. For MySQL it is a number of 38 digits. `source.pos`: the number of the file, 12 digits for
   the position in it, and 6 digits for the row in the binlog event. `source.gtid`: the server's place in `servers`, 19
   digits for its transaction, and 12 digits for the event in the transaction; 0 for rows of the first snapshot, which
   have no transaction. These numbers are text, which has the same order: ClickHouse can make an Int128 of text, but
   cannot compare it with Spark's decimals. #}
{% macro get_debezium_version_sql(version, servers) %}
  {%- if version == 'source.lsn' -%}
    {%- do return(versioned_collapsing.get_typed_sql('_source.lsn', 'bigint', none)) -%}
  {%- elif version == 'source.pos' -%}
    {%- do return(versioned_collapsing._get_number_sql([
        "nullif(regexp_extract(_source.file, '[.]([0-9]{1,20})$', 1), '')",
        versioned_collapsing._get_digits_sql('_source.pos', 12),
        versioned_collapsing._get_digits_sql("coalesce(_source.row, '0')", 6),
    ])) -%}
  {%- elif version == 'source.gtid' -%}
    {%- set known = versioned_collapsing.get_text_array_sql(servers | map('lower')) -%}
    {%- set number = versioned_collapsing._get_number_sql([
        'nullif(array_position(' ~ known ~ ", lower(substring_index(_source.gtid, ':', 1))), 0)",
        versioned_collapsing._get_digits_sql("substring(_source.gtid, locate(':', _source.gtid) + 1)", 19),
        versioned_collapsing._get_digits_sql('_transaction.total_order', 12),
    ]) -%}
    {%- do return("if(_op = 'r' and nullif(_source.gtid, '') is null, repeat('0', 38), " ~ number ~ ')') -%}
  {%- endif -%}
  {%- do return(version) -%}
{% endmacro %}


{% macro _get_number_sql(parts) %}
  {%- do return('lpad(concat(' ~ parts | join(', ') ~ "), 38, '0')") -%}
{% endmacro %}


{# Text as a fixed number of digits; null for text that is not digits, or that has more of them. #}
{% macro _get_digits_sql(text, length) %}
  {%- do return('if(' ~ text ~ " rlike '^[0-9]{1," ~ length ~ "}$', lpad(" ~ text ~ ', ' ~ length ~ ", '0'), null)") -%}
{% endmacro %}
