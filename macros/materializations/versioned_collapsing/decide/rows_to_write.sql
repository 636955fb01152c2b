{# The state and cancel rows of keys with at most one uncollapsed row, a state. A pair stays adjacent, so that
   a reader meets one without the other at the edge of a block at most. #}
{% macro get_publish_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set version = adapter.quote(options.version) -%}
  {%- set sign = adapter.quote(options.sign) -%}
  select
    {%- for name in versioned_collapsing.get_stored_names(options, columns)[:-1] %}
    if(_dbt_sign = -1, _dbt_stored.{{ adapter.quote(name) }}, _dbt_changed.{{ adapter.quote(name) }}),
    {%- endfor %}
    _dbt_sign
  from (
    select *
    from {{ versioned_collapsing.get_helper_relation(target_relation, 'changes') }}
    where not _dbt_is_tombstoned
      and ({{ key }}) not in (
        select {{ key }} from {{ versioned_collapsing.get_helper_relation(target_relation, 'torn') }}
      )
  ) as _dbt_changed
  left join (
    select * from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
  ) as _dbt_stored
    on {{ versioned_collapsing.get_keys_equal_sql('_dbt_changed', '_dbt_stored', options.unique_key) }}
  array join [toInt8(-1), toInt8(1)] as _dbt_sign
  where if(
    _dbt_sign = -1,
    _dbt_stored.{{ sign }} = 1
      and (
        _dbt_changed.{{ version }} > _dbt_stored.{{ version }}
        or (_dbt_changed._dbt_is_deleted and _dbt_changed.{{ version }} = _dbt_stored.{{ version }})
      ),
    not _dbt_changed._dbt_is_deleted
      and (_dbt_stored.{{ sign }} = 0 or _dbt_changed.{{ version }} > _dbt_stored.{{ version }})
  )
{%- endmacro %}
