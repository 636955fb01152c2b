{# Keys with other uncollapsed rows than one state: torn by a run that died, or wrong from elsewhere. The
   opposite of every uncollapsed row that should not be there, and the state that should and is not.
   Two states of one version that differ stay: no cancel row could tell them apart. #}
{% macro get_heal_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set others = columns.names | reject('in', options.unique_key) | list -%}
  {%- set row = get_quoted_csv(others) -%}
  {%- set version_at = others.index(options.version) + 1 -%}
  {%- set sign_at = others | length + 1 -%}
  {%- set torn = versioned_collapsing.get_helper_relation(target_relation, 'torn') -%}
  with _dbt_per_key as (
    select
      {{ key }},
      groupArrayIf(_dbt_stored_row, _dbt_is_stored) as _dbt_uncollapsed_rows,
      anyIf(_dbt_stored_row, not _dbt_is_stored) as _dbt_change,
      anyIf(_dbt_change_is_deleted, not _dbt_is_stored) as _dbt_change_deletes,
      countIf(_dbt_is_stored and _dbt_stored_row.{{ sign_at }} = 1) > 0 as _dbt_has_live,
      maxIf(_dbt_stored_row.{{ version_at }}, _dbt_is_stored
          and _dbt_stored_row.{{ sign_at }} = 1) as _dbt_live_version,
      not anyIf(_dbt_change_is_tombstoned, not _dbt_is_stored)
        and if(_dbt_has_live, _dbt_change.{{ version_at }} > _dbt_live_version
            or (_dbt_change_deletes and _dbt_change.{{ version_at }} = _dbt_live_version),
            not _dbt_change_deletes) as _dbt_is_accepted
    from (
      select {{ key }}, tuple({{ row }}, {{ adapter.quote(options.sign) }}) as _dbt_stored_row, true as _dbt_is_stored,
          false as _dbt_change_is_deleted, false as _dbt_change_is_tombstoned
      from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
      where ({{ key }}) in (select {{ key }} from {{ torn }})
      union all
      select {{ key }}, tuple({{ row }}, toInt8(1)), false, _dbt_is_deleted, _dbt_is_tombstoned
      from {{ versioned_collapsing.get_helper_relation(target_relation, 'changes') }}
      where ({{ key }}) in (select {{ key }} from {{ torn }})
    )
    group by {{ key }}
    having countIf(not _dbt_is_stored) > 0
  )
  select
    {{ key }},
    {%- for name in others %}
    _dbt_emitted.{{ loop.index }},
    {%- endfor %}
    _dbt_emitted.{{ sign_at }}
  from (
    select
      {{ key }},
      arrayConcat(
        arrayMap(
          _dbt_uncollapsed_row -> tuple({% for name in others %}_dbt_uncollapsed_row.{{ loop.index }},
              {% endfor %}toInt8(-_dbt_uncollapsed_row.{{ sign_at }})),
          arrayFilter(
            (_dbt_uncollapsed_row, _dbt_position) -> not (
              _dbt_has_live and not _dbt_is_accepted and _dbt_uncollapsed_row.{{ sign_at }} = 1
                  and _dbt_uncollapsed_row.{{ version_at }} = _dbt_live_version
              and _dbt_position = indexOf(_dbt_uncollapsed_rows, _dbt_uncollapsed_row)
            ),
            _dbt_uncollapsed_rows,
            arrayEnumerate(_dbt_uncollapsed_rows)
          )
        ),
        if(_dbt_is_accepted and not _dbt_change_deletes, [_dbt_change], [])
      ) as _dbt_rows_to_write
    from _dbt_per_key
  )
  array join _dbt_rows_to_write as _dbt_emitted
{%- endmacro %}
