{% macro get_different_ranges_sql(rows) -%}
  select _dbt_key_range
  from (
    select
      intDiv(_dbt_key_hash, 72057594037927936) as _dbt_key_range,
      toInt64(count()) as _dbt_rows,
      sum(_dbt_checksum) as _dbt_total
    from ({{ rows['live'] }})
    group by _dbt_key_range

    union all

    select
      intDiv(_dbt_key_hash, 72057594037927936) as _dbt_key_range,
      -toInt64(count()) as _dbt_rows,
      sum(_dbt_checksum) as _dbt_total
    from ({{ rows['true'] }})
    group by _dbt_key_range
  )
  group by _dbt_key_range
  having sum(_dbt_rows) <> 0 or uniqExact(_dbt_total) > 1 or count() <> 2
  order by _dbt_key_range
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{% macro get_different_keys_sql(rows, unique_key, ranges, show) -%}
  {%- set is_in_ranges = 'intDiv(_dbt_key_hash, 72057594037927936) in (' ~ ranges | join(', ') ~ ')' -%}
  select
    multiIf(_dbt_live_rows = 0, 'missing', _dbt_true_rows = 0, 'unexpected', 'different') as difference,
    count() as n,
    arrayStringConcat(groupArray({{ show }})(_dbt_shown), ' ') as some_keys
  from ({{ versioned_collapsing.get_compared_keys_sql(rows, unique_key, is_in_ranges) }})
  where not _dbt_is_same
  group by difference
  order by difference
  {{ versioned_collapsing.get_settings_sql() }}
{%- endmacro %}


{# Each key, with the number of rows that each side has for it, and whether the rows of both sides are the same. #}
{% macro get_compared_keys_sql(rows, unique_key, condition) -%}
  select
    _dbt_key_hash,
    toString(tuple({% for name in unique_key %}any(_dbt_key_{{ loop.index }}){{ ', '
        if not loop.last }}{% endfor %})) as _dbt_entity,
    {{ versioned_collapsing.get_shown_text_sql('_dbt_entity') }} as _dbt_shown,
    countIf(_dbt_is_live) as _dbt_live_rows,
    countIf(not _dbt_is_live) as _dbt_true_rows,
    _dbt_live_rows = _dbt_true_rows
      and sumIf(_dbt_checksum, _dbt_is_live) = sumIf(_dbt_checksum, not _dbt_is_live) as _dbt_is_same
  from (
    select *, true as _dbt_is_live from ({{ rows['live'] }})
    union all
    select *, false as _dbt_is_live from ({{ rows['true'] }})
  )
  where {{ condition }}
  group by _dbt_key_hash
{%- endmacro %}
