{# The fields of an envelope of which the version is made, for a declared schema. #}
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
