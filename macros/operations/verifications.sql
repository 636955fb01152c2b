{# Creates the table of the verifications. It gets one row for each range of a cycle when the range is planned, and one
   when it is verified. #}
{% macro create_verifications(table) %}
  {% call statement('create_verifications') -%}
    create table if not exists {{ versioned_collapsing.get_verifications_relation(table) }}
    {{ on_cluster_clause(table) }} (
      model String comment 'Name of the model',
      target_uuid UUID comment 'UUID of the table',
      invocation_id String comment 'ID of the dbt invocation',
      status LowCardinality(String) comment 'planned or verified; of the operation reconcile: reconciled',
      at DateTime64(6, 'UTC') comment 'When the row was written',
      cycle UInt64 comment 'Number of the cycle',
      definition String comment 'Hash of what is compared with what',
      reference String comment 'What the reference is called',
      position String comment 'Version up to which the reference is known; empty if the whole table was compared',
      apply UInt64 comment 'Number of the last apply to the table before verify',
      range UInt32 comment 'Number of the key range',
      ranges UInt32 comment 'Number of key ranges in the cycle',
      lower String comment 'First key of the range; empty: no bound',
      upper String comment 'First key after the range; empty: no bound',
      compared UInt64 comment 'Keys that were compared; reconcile does not count them',
      missing UInt64 comment 'Keys that only the reference has',
      unexpected UInt64 comment 'Keys that only the table has',
      doubled UInt64 comment 'Keys of which the table has more rows than the reference',
      different UInt64 comment 'Keys with other values',
      later UInt64 comment 'Keys that the table has changed above the position; not compared',
      differing_keys String comment 'Some of the keys that differ'
    )
    engine = {{ versioned_collapsing.get_engine_name(table, 'MergeTree') }}
    order by (model, at)
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
{% endmacro %}


{% macro record_verified(comparison, position, range, counts) %}
  {%- do versioned_collapsing._record(comparison, 'verified', position, range, counts) -%}
{% endmacro %}


{% macro _record(comparison, status, position, range, counts) %}
  {%- set names = versioned_collapsing.get_verified_names() -%}
  {% call statement('record_verified') -%}
    insert into {{ versioned_collapsing.get_verifications_relation(comparison.table) }} (
      model, target_uuid, invocation_id, status, at, cycle, definition, reference, position, apply, range, ranges,
      lower, upper, {{ names | join(', ') }}, differing_keys
    )
    select
      {{ versioned_collapsing.quote_literal(comparison.node.name) }},
      {{ versioned_collapsing.get_table_uuid_sql(comparison.table) }},
      {{ versioned_collapsing.quote_literals([invocation_id, status]) }},
      now64(6, 'UTC'),
      {{ range.cycle }},
      {{ versioned_collapsing.quote_literals([range.definition, comparison.reference_text, position.text or '']) }},
      {{ position.apply }}, {{ range.number }}, {{ range.ranges }},
      {{ versioned_collapsing.quote_literals([range.lower or '', range.upper or '']) }},
      {%- for name in names %}
      {{ counts.get(name, 0) }},
      {%- endfor %}
      {{ versioned_collapsing.quote_literal(counts.differing_keys or '') }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endcall %}
{% endmacro %}


{# The kinds of keys of a range that are counted. `compared` counts all of them except those that are `later`. #}
{% macro get_verified_names() %}
  {%- do return(['compared', 'missing', 'unexpected', 'doubled', 'different', 'later']) -%}
{% endmacro %}


{# `reconcile` compares all keys at once, in no cycle. It does not count those that agree. #}
{% macro record_reconciled(comparison, counts) %}
  {%- set all_keys = {'cycle': 0, 'number': 1, 'ranges': 1, 'definition': ''} -%}
  {%- do versioned_collapsing._record(comparison, 'reconciled', {'text': '', 'apply': 0}, all_keys, counts) -%}
{% endmacro %}


{# How many ranges of a cycle are verified. #}
{% macro read_cycle(comparison, cycle) %}
  {%- set query -%}
    select any(ranges) as ranges, uniqExactIf(range, status = 'verified') as verified
    from {{ versioned_collapsing.get_verifications_relation(comparison.table) }}
    where {{ versioned_collapsing.get_is_verification_sql(comparison) }} and cycle = {{ cycle }}
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- do return({'cycle': cycle, 'ranges': found['ranges'] | int, 'verified': found['verified'] | int}) -%}
{% endmacro %}


{# The condition that a row is about the table that has the name now. #}
{% macro get_is_verification_sql(comparison) %}
  {%- do return(
      'model = ' ~ versioned_collapsing.quote_literal(comparison.node.name) ~ ' and target_uuid = '
      ~ versioned_collapsing.get_table_uuid_sql(comparison.table)
  ) -%}
{% endmacro %}
