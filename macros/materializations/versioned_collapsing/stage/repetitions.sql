{# The number of rows of a change set that repeat, contradict or are below another one, and a sample of the
   contradictions. Only the rows of keys with several rows are counted, because it takes memory to tell rows apart. A
   key that only shares its hash with another adds nothing. #}
{% macro read_repetitions(options, columns, sql, truncated_at, apply) %}
  {%- set key = 'tuple(' ~ get_quoted_csv(options.unique_key) ~ ')' -%}
  {%- set all_changes = versioned_collapsing.get_cast_changes_sql(options, columns, sql, truncated_at) -%}
  {%- set hash = 'cityHash64(' ~ key ~ ')' -%}
  {%- set changes -%}
    select *
    from ({{ all_changes }})
    where {{ hash }} in (select {{ hash }} as _dbt_hash from ({{ all_changes }}) group by _dbt_hash having count() > 1)
  {%- endset -%}
  {%- set key_version = get_quoted_csv(options.unique_key + [options.version]) -%}
  {%- set names = get_quoted_csv(columns.names) ~ ', _dbt_is_deleted' ~ (', _dbt_unset' if columns.is_folded
      else '') -%}
  {%- set row = 'tuple(' ~ names ~ ')' -%}
  {%- set query -%}
    select
      uniqExact({{ row }}) as _dbt_different,
      uniqExactIf({{ row }}, not _dbt_is_deleted) as _dbt_upserts,
      uniqExactIf(tuple({{ key_version }}), not _dbt_is_deleted) as _dbt_versions,
      uniqExact({{ key }}) as _dbt_keys,
      count() - _dbt_different as _dbt_duplicates_found,
      _dbt_upserts - _dbt_versions as _dbt_conflicts_found,
      _dbt_different - _dbt_conflicts_found - _dbt_keys as _dbt_superseded_found
    from ({{ changes }})
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- set found = run_query(query).rows[0] -%}
  {%- set contradictions -%}
    select {{ versioned_collapsing.get_shown_values_sql(options.unique_key + [options.version]) }} as _dbt_conflict
    from ({{ changes }})
    where not _dbt_is_deleted
    group by _dbt_conflict
    having uniqExact({{ row }}) > 1
    order by _dbt_conflict
    limit 3
    {{ versioned_collapsing.get_settings_sql(apply) }}
  {%- endset -%}
  {%- set conflicts = found['_dbt_conflicts_found'] | int -%}
  {%- do return({
      'duplicates': found['_dbt_duplicates_found'] | int,
      'conflicts': conflicts,
      'superseded': found['_dbt_superseded_found'] | int,
      'conflict_sample': versioned_collapsing.read_conflict_sample(contradictions) if conflicts else [],
  }) -%}
{% endmacro %}


{# The result if each row has a key of its own. #}
{% macro get_no_repetitions() %}
  {%- do return({'duplicates': 0, 'conflicts': 0, 'superseded': 0, 'conflict_sample': []}) -%}
{% endmacro %}
