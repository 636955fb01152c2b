{# The live row of a key has the key's highest stored version, and a higher version than the key's last delete. If not,
   a run took a late change for the newest one, a cancel row has the wrong version, or another writer inserted the row
   of a deleted key. #}
{% test live_version_is_the_highest(model, unique_key, version=none, sign=none, sample=none, recent_partitions=none) %}
{%- set where = config.get('where') -%}
{%- set table = versioned_collapsing.read_signed_table(model, sign, version, unique_key) -%}
{%- set partitions = versioned_collapsing.read_recent_partitions(table.relation, recent_partitions) -%}
{%- do versioned_collapsing.validate_has_version(table) -%}
{%- set tombstones = versioned_collapsing.read_tested_tombstones(table, unique_key) -%}
{%- set shown = ['live_version', 'highest_version', 'failing_condition'] -%}

{% call versioned_collapsing.get_failing_rows_sql(shown, table.names) %}
  with _dbt_versions as (
    select
      {{ table.key }},
      {{ table.version }} as _dbt_version,
      sum({{ table.sign }}) as _dbt_net_sign
    from {{ table.relation }}
    where {{ versioned_collapsing.get_scope_sql(table, where, sample, partitions) }}
    group by {{ table.key }}, _dbt_version
  )

  select
    {{ table.key }},
    minIf(_dbt_version, _dbt_net_sign > 0) as _dbt_live_version,
    max(_dbt_version) as _dbt_highest_version,
    'a stored version is above the version of the live row' as _dbt_failing_condition
  from _dbt_versions
  group by {{ table.key }}
  having countIf(_dbt_net_sign > 0) > 0 and _dbt_live_version < _dbt_highest_version
  {%- if tombstones %}

  union all

  select
    {{ table.key }},
    _dbt_version as _dbt_live_version,
    _dbt_deleted_at as _dbt_highest_version,
    'the key was deleted at or above the version of the live row' as _dbt_failing_condition
  from _dbt_versions
  inner any join (
    select {{ table.key }}, max({{ table.version }}) as _dbt_deleted_at from {{ tombstones }} group by {{ table.key }}
  ) as _dbt_deletes using ({{ table.key }})
  where _dbt_net_sign > 0 and _dbt_version <= _dbt_deleted_at
  {%- endif %}
{% endcall %}

{% endtest %}
