{# Why an event has no version. If the connector decides, what the line of each one lacks. #}
{% macro get_debezium_version_problems(version) %}
  {%- set orders = versioned_collapsing.get_debezium_orders() -%}
  {%- if version is not none and version not in orders.names -%}
    {%- do return([versioned_collapsing.get_missing_version_problem(version)]) -%}
  {%- elif version is not none -%}
    {%- do return(versioned_collapsing._get_order_problems(version)) -%}
  {%- endif -%}
  {%- set connectors = orders.connectors | list -%}
  {%- set problems = [
      {'condition': '_source.connector is null', 'reason': "'source.connector is missing'"},
      {
          'condition': "_source.connector not in ('" ~ connectors | join("', '") ~ "')",
          'reason': "concat('source.connector is ', _source.connector, ', which has no known order of commits')",
      },
  ] -%}
  {%- for connector, order in orders.connectors.items() -%}
    {%- for problem in versioned_collapsing._get_order_problems(order) -%}
      {%- do problems.append({
          'condition': "_source.connector = '" ~ connector ~ "' and " ~ problem.condition, 'reason': problem.reason,
      }) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(problems) -%}
{% endmacro %}


{% macro _get_order_problems(order) %}
  {%- set lsn = [
      {'condition': "_source.lsn is null and _op <> 'r'", 'reason': "'source.lsn is missing'"},
      {
          'condition': '_source.lsn is not null and ' ~ versioned_collapsing.get_lsn_sql() ~ ' is null',
          'reason': "'source.lsn does not fit bigint'",
      },
  ] -%}
  {%- set commits = [{
      'condition': "_op <> 'r' and coalesce(_source.sequence, _source.commit_lsn) is null",
      'reason': "'source.sequence is missing'",
  }] if order == 'source.sequence' else [] -%}
  {%- do return({
      'source.sequence': lsn + commits + [
          {'condition': '_version is null', 'reason': "'source.sequence is no position'"},
      ],
      'source.lsn_despite_races': lsn + [
          {'condition': '_version is null', 'reason': "'source.lsn is no position'"},
      ],
      'source.pos': [
          {'condition': "_source.file is null and _op <> 'r'", 'reason': "'source.file is missing'"},
          {'condition': "_source.pos is null and _op <> 'r'", 'reason': "'source.pos is missing'"},
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
      'source.ord': [
          {'condition': '_version is null', 'reason': "'source.ts_ms and source.ord are no position'"},
      ],
      'source.commit_lsn': [
          {'condition': '_version is null', 'reason': "'source.commit_lsn and source.change_lsn are no position'"},
      ],
      'source.commit_scn': [
          {'condition': '_version is null', 'reason': "'source.commit_scn and source.scn are no position'"},
      ],
  }[order]) -%}
{% endmacro %}
