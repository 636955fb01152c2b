{# How many keys have each outcome, how many keys have uncollapsed rows, and how many changes could not be combined. #}
{% macro read_outcomes(target_relation, options, columns, uncollapsed, apply, compares_payload) %}
  {%- set query = versioned_collapsing.get_outcomes_sql(
      target_relation, options, columns, uncollapsed, apply, compares_payload
  ) -%}
  {%- set rows = run_query(query).rows -%}
  {%- set outcomes = {} -%}
  {%- for row in rows -%}
    {%- do outcomes.update({row['_dbt_outcome']: row['_dbt_n'] | int}) -%}
  {%- endfor -%}
  {%- do return({
      'outcomes': outcomes,
      'matched': rows | map(attribute='_dbt_matched') | map('int') | sum,
      'unmerged': rows | map(attribute='_dbt_unmerged_rows') | map('int') | sum,
  }) -%}
{% endmacro %}


{# Payloads are compared only if a change has the version of a stored row. Otherwise they are not read. #}
{% macro get_outcomes_sql(target_relation, options, columns, uncollapsed, apply, compares_payload) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set torn = versioned_collapsing.get_helper_relation(target_relation, 'torn') -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set sign = adapter.quote(options.sign) -%}
  select
    multiIf(
      _dbt_changed._dbt_is_torn, 'repaired',
      _dbt_changed._dbt_is_tombstoned, if(_dbt_changed._dbt_is_deleted, 'stale', 'tombstoned'),
      _dbt_stored.{{ sign }} = 0 and _dbt_changed._dbt_is_buried, 'duplicate',
      _dbt_stored.{{ sign }} = 0, if(_dbt_changed._dbt_is_deleted, 'delete of an absent key', 'insert'),
      _dbt_changed.{{ version }} < _dbt_stored.{{ version }}, 'stale',
      _dbt_changed._dbt_is_deleted, 'delete',
      _dbt_changed.{{ version }} > _dbt_stored.{{ version }}, 'update',
      {%- if compares_payload %}
      {{ versioned_collapsing._get_same_payload_sql('_dbt_changed', '_dbt_stored', columns) }}, 'duplicate',
      'conflict'
      {%- else %}
      'same version'
      {%- endif %}
    ) as _dbt_outcome,
    count() as _dbt_n,
    countIf(_dbt_stored.{{ sign }} <> 0) as _dbt_matched,
    {{ 'sum(_dbt_changed._dbt_unmerged)' if columns.is_folded else 'toUInt64(0)' }} as _dbt_unmerged_rows
  from (
    select *, ({{ key }}) in (select {{ key }} from {{ torn }}) as _dbt_is_torn
    from {{ versioned_collapsing.get_helper_relation(target_relation, 'changes') }}
  ) as _dbt_changed
  left any join (
    select * from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
  ) as _dbt_stored
    on {{ versioned_collapsing.get_keys_equal_sql('_dbt_changed', '_dbt_stored', options.unique_key) }}
  group by _dbt_outcome
  {{ versioned_collapsing.get_settings_sql(apply, {'join_algorithm': 'partial_merge'}) }}
{%- endmacro %}
