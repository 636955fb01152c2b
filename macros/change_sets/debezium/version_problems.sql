{% macro get_debezium_version_problems(version) %}
  {%- do return({
      'source.lsn': [
          {'condition': '_source.lsn is null', 'reason': "'source.lsn is missing'"},
          {
              'condition': versioned_collapsing.get_misfit_sql('_source.lsn', '_version', 'bigint'),
              'reason': "'source.lsn does not fit bigint'",
          },
      ],
      'source.pos': [
          {'condition': '_source.file is null', 'reason': "'source.file is missing'"},
          {'condition': '_source.pos is null', 'reason': "'source.pos is missing'"},
          {'condition': '_version is null', 'reason': "'source.file and source.pos are no position'"},
      ],
      'source.gtid': [
          {'condition': "nullif(_source.gtid, '') is null and _op <> 'r'", 'reason': "'source.gtid is missing'"},
          {
              'condition': '_version is null and _transaction.total_order is null',
              'reason': "'transaction.total_order is missing'",
          },
          {
              'condition': "_source.gtid like '%:%:%'",
              'reason': "'source.gtid has a tag, whose transactions have no order with others'",
          },
          {'condition': '_version is null', 'reason': "'source.gtid is no transaction of a known server'"},
      ],
  }.get(version, [versioned_collapsing.get_missing_version_problem(version)])) -%}
{% endmacro %}
