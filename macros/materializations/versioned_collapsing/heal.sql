{# Keys with other leftovers than one state: torn by a run that died, or wrong from elsewhere. The
   opposite of every leftover that should not be there, and the state that should and is not.
   Two states of one version that differ stay: no cancel row could tell them apart. #}
{% macro get_heal_rows_sql(target, options, columns) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set others = columns.names | reject('in', options.unique_key) | list -%}
  {%- set row = get_quoted_csv(others) -%}
  {%- set version_at = others.index(options.version) + 1 -%}
  {%- set sign_at = others | length + 1 -%}
  {%- set odd = versioned_collapsing._beside(target, 'odd') -%}
  with per_key as (
    select
      {{ key }},
      groupArrayIf(stored_row, is_stored) as leftovers,
      anyIf(stored_row, not is_stored) as change,
      anyIf(is_deleted, not is_stored) as change_deletes,
      countIf(is_stored and stored_row.{{ sign_at }} = 1) > 0 as has_live,
      maxIf(stored_row.{{ version_at }}, is_stored and stored_row.{{ sign_at }} = 1) as live_version,
      not anyIf(is_tombstoned, not is_stored)
        and if(has_live, change.{{ version_at }} > live_version or (change_deletes and change.{{ version_at }} = live_version), not change_deletes) as is_accepted
    from (
      select {{ key }}, tuple({{ row }}, {{ adapter.quote(options.sign) }}) as stored_row, true as is_stored, false as is_deleted, false as is_tombstoned
      from {{ versioned_collapsing._beside(target, 'leftovers') }}
      where ({{ key }}) in (select {{ key }} from {{ odd }})
      union all
      select {{ key }}, tuple({{ row }}, toInt8(1)), false, _dbt_is_deleted, _dbt_is_tombstoned
      from {{ versioned_collapsing._beside(target, 'changes') }}
      where ({{ key }}) in (select {{ key }} from {{ odd }})
    )
    group by {{ key }}
    having countIf(not is_stored) > 0
  )
  select
    {{ key }},
    {%- for name in others %}
    emitted.{{ loop.index }},
    {%- endfor %}
    emitted.{{ sign_at }}
  from (
    select
      {{ key }},
      arrayConcat(
        arrayMap(
          leftover -> tuple({% for name in others %}leftover.{{ loop.index }}, {% endfor %}toInt8(-leftover.{{ sign_at }})),
          arrayFilter(
            (leftover, position) -> not (
              has_live and not is_accepted and leftover.{{ sign_at }} = 1 and leftover.{{ version_at }} = live_version
              and position = indexOf(leftovers, leftover)
            ),
            leftovers,
            arrayEnumerate(leftovers)
          )
        ),
        if(is_accepted and not change_deletes, [change], [])
      ) as rows_to_write
    from per_key
  )
  array join rows_to_write as emitted
{%- endmacro %}
