{# Deletes are ordered among the upserts by version.

   | flag       | what it says                                               |
   | ---------- | ---------------------------------------------------------- |
   | has_delete | one of the key's changes is a delete; the highest: dead_at |
   | highest    | the highest version of the key's changes                   | #}
{% macro _get_marks_by_version(options, truncated_at) %}
  {%- set version = adapter.quote(options.version) -%}
  {%- set is_new -%}
    not _dbt_is_deleted
      and not _dbt_is_tombstoned
      and not (_dbt_has_reset and {{ version }} < _dbt_reset_at)
      and not (_dbt_has_delete and {{ version }} <= _dbt_dead_at)
      and not (_dbt_has_live and {{ version }} <= _dbt_live_version)
  {%- endset -%}
  {%- set is_fallback -%}
    {{ version }} = _dbt_highest and _dbt_is_deleted = (_dbt_has_delete and _dbt_dead_at = _dbt_highest)
  {%- endset -%}
  {%- set builds_on_live -%}
    {{ versioned_collapsing._outlives_truncate_sql(truncated_at) }}
      and not (_dbt_has_delete and _dbt_live_version <= _dbt_dead_at)
      and not (_dbt_has_reset and _dbt_live_version < _dbt_reset_at)
  {%- endset -%}
  {%- do return({
      '_dbt_has_delete': versioned_collapsing._any_of_key_sql('_dbt_is_deleted', options),
      '_dbt_dead_at': versioned_collapsing._highest_of_key_sql('_dbt_is_deleted', options),
      '_dbt_highest': versioned_collapsing._highest_of_key_sql('true', options),
      '_dbt_is_new': is_new,
      '_dbt_is_fallback': is_fallback,
      '_dbt_deletes_nothing': '_dbt_is_buried',
      '_dbt_builds_on_live': builds_on_live,
  }) -%}
{% endmacro %}
