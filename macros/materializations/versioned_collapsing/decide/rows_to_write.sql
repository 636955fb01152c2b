{# The cancel and state rows of keys with at most one uncollapsed row, which is a state row. Cancel rows are read from
   the stored rows and state rows from the changes. Of the other side, a join reads only keys, versions and flags. #}
{% macro get_publish_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set sign = adapter.quote(options.sign) -%}
  {%- set names = get_quoted_csv(versioned_collapsing.get_stored_names(options, columns)[:-1]) -%}
  {%- set is_decided -%}
    not _dbt_is_tombstoned
      and ({{ key }}) not in (
        select {{ key }} from {{ versioned_collapsing.get_helper_relation(target_relation, 'torn') }}
      )
  {%- endset -%}
  select {{ names }}, toInt8(-1) as _dbt_new_sign
  from (
    select * from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
  ) as _dbt_stored
  left any join (
    select {{ key }}, {{ version }} as _dbt_changed_version, _dbt_is_deleted, true as _dbt_is_changed
    from {{ versioned_collapsing.get_helper_relation(target_relation, 'changes') }}
    where {{ is_decided }}
  ) as _dbt_changed using ({{ key }})
  where _dbt_is_changed
    and {{ sign }} = 1
    and (
      _dbt_changed_version > {{ version }}
      or (_dbt_is_deleted and _dbt_changed_version = {{ version }})
    )

  union all

  select {{ names }}, toInt8(1) as _dbt_new_sign
  from (
    select *
    from {{ versioned_collapsing.get_helper_relation(target_relation, 'changes') }}
    where not _dbt_is_deleted and {{ is_decided }}
  ) as _dbt_changed
  left any join (
    select {{ key }}, {{ version }} as _dbt_stored_version, {{ sign }} as _dbt_stored_sign
    from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
  ) as _dbt_stored using ({{ key }})
  where _dbt_stored_sign = 0 or {{ version }} > _dbt_stored_version
{%- endmacro %}
