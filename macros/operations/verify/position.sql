{# The version up to which the truth is known, and what else decides whether the table can be compared there:

   - text, sql: the version, none if the whole table is compared
   - type: the type of the table's versions
   - is_version: whether the position is a value of this type
   - truncated_at, is_truncated: the version at which the table was emptied, and whether it is above the position
   - apply: number of the table's last apply
   - timezone: of the session #}
{% macro read_position(comparison, position) %}
  {%- set ledger = versioned_collapsing.read_ledger(comparison.table, comparison.node) -%}
  {%- set type = versioned_collapsing.get_base_type(comparison.types[comparison.options.version]) -%}
  {%- set given = none if position is none else position | string -%}
  {%- set sql = none if position is none else versioned_collapsing._get_position_sql(given, type) -%}
  {%- set truncated = versioned_collapsing._get_position_sql(ledger.truncated_at or '', type) -%}
  {%- set query -%}
    select
      toInt64({{ 'true' if position is none else 'isNotNull(' ~ sql ~ ')' }}) as is_version,
      toInt64({{ 'false' if position is none else 'ifNull(' ~ truncated ~ ' > ' ~ sql ~ ', false)' }}) as is_truncated,
      concat('in ', timezone()) as timezone
    {{ versioned_collapsing.get_settings_sql() }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- do return({
      'text': given,
      'sql': sql,
      'type': type,
      'is_version': found['is_version'] | int == 1,
      'truncated_at': ledger.truncated_at,
      'is_truncated': found['is_truncated'] | int == 1,
      'apply': ledger.number,
      'timezone': found['timezone'],
  }) -%}
{% endmacro %}


{% macro _get_position_sql(text, type) %}
  {%- do return(
      'accurateCastOrNull(' ~ versioned_collapsing.quote_literal(text) ~ ', '
      ~ versioned_collapsing.quote_literal(type) ~ ')'
  ) -%}
{% endmacro %}


{# The condition that the table has changed a key above the position: it has stored rows or a tombstone of the key
   there. #}
{% macro get_is_later_sql(comparison, position, is_in_range) -%}
  {%- if not position.sql -%}{%- do return('false') -%}{%- endif -%}
  {%- set values = [] -%}
  {%- for name in comparison.options.unique_key -%}
    {%- do values.append(versioned_collapsing.get_live_value_sql(comparison.columns[name])) -%}
  {%- endfor -%}
  {%- set key_hash = versioned_collapsing.get_key_hash_sql(values) -%}
  {%- set version = versioned_collapsing.quote_name(comparison.options.version) -%}
  _dbt_key_hash in (
    select {{ key_hash }} from {{ comparison.table }} where {{ version }} > {{ position.sql }} and {{ is_in_range }}
    union all
    select {{ key_hash }}
    from {{ versioned_collapsing.get_tombstones_relation(comparison.table) }}
    where {{ version }} > {{ position.sql }} and {{ is_in_range }}
  )
{%- endmacro %}
