{# Every whole row whose signs do not add up to what they should, and by how much. By this law, an apply repairs the
   unbalanced keys that it changes, and `rebalance` all keys.

   They should add up to 1 for the row that is wanted of each key, and to 0 for all others. The live row with the
   highest version is wanted, or the change, if it is above all of them. Rows at or below the version at which their key
   was deleted are not live.

   If rows differ but have the same sorting key, partition and version, they pair with each other. If one of them is
   wanted and live, none of them is repaired: a new row could pair with the wrong one.

   - rows_sql: whole rows, each with its `_dbt_row_sign`; or with the sign 0, if it is a change (`_dbt_is_change_row`)
   - ends_sql: the keys that were deleted, with the versions of their deletes, like get_tombstones_sql; or none #}
{% macro get_repairs_sql(rows_sql, ends_sql, options, columns) -%}
  {%- set key = versioned_collapsing.quote_names(options.unique_key) -%}
  {%- set version = versioned_collapsing.quote_name(options.version) -%}
  {%- set row = versioned_collapsing.quote_names(columns.names) -%}
  {%- set place = versioned_collapsing.get_expressions_sql(options.order_by + options.partition_by, columns) -%}
  {%- set is_ended = '_dbt_is_tombstone and ' ~ version ~ ' <= _dbt_deleted_at' if ends_sql else 'false' -%}
  {%- set is_candidate = '_dbt_is_live or _dbt_is_change' -%}
  select
    *,
    countIf(_dbt_net_sign <> 0) over (partition by {{ key }}, {{ version }}, {{ place }}) > 1
      and max(_dbt_is_wanted and _dbt_is_live) over (partition by {{ key }}, {{ version }}, {{ place }})
      as _dbt_is_undecided,
    if(_dbt_is_undecided, 0, _dbt_is_wanted - _dbt_net_sign) as _dbt_missing
  from (
    select
      *,
      ({{ is_candidate }})
        and ({{ version }}, _dbt_is_live) = maxIf(({{ version }}, _dbt_is_live), {{ is_candidate }})
          over (partition by {{ key }})
        as _dbt_is_wanted
    from (
      select {{ row }}, _dbt_net_sign, _dbt_is_change, _dbt_net_sign > 0 and not ({{ is_ended }}) as _dbt_is_live
      from (
        select {{ row }}, sum(_dbt_row_sign) as _dbt_net_sign, max(_dbt_is_change_row) as _dbt_is_change
        from ({{ rows_sql }})
        group by {{ row }}
        having _dbt_net_sign <> 0 or _dbt_is_change
      ) as _dbt_rows
      {%- if ends_sql %}
      left any join (
        {{ ends_sql }}
      ) as _dbt_ends using ({{ key }})
      {%- endif %}
    )
  )
  qualify _dbt_missing <> 0 or _dbt_is_undecided
  {{ versioned_collapsing.get_settings_sql(none, {'allow_suspicious_types_in_group_by': 1}) }}
{%- endmacro %}

{# The signed rows that make up for what is missing. #}
{% macro get_repair_rows_sql(options, columns, repairs) -%}
  {%- set names = versioned_collapsing.get_stored_names(options, columns)[:-1] -%}
  select {{ versioned_collapsing.quote_names(names) }}, _dbt_sign_to_write
  from (
    select *, toInt8(sign(_dbt_missing)) as _dbt_sign_of_each
    from ({{ repairs }})
    where _dbt_missing <> 0
  )
  array join arrayResize([_dbt_sign_of_each], abs(_dbt_missing), _dbt_sign_of_each) as _dbt_sign_to_write
{%- endmacro %}

{# The rows that repair the unbalanced keys of an apply. A delete ends its key like a tombstone. #}
{% macro get_rebalancing_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {%- set key = versioned_collapsing.quote_names(options.unique_key) -%}
  {%- set row = versioned_collapsing.quote_names(columns.names) -%}
  {%- set unbalanced = versioned_collapsing.get_helper_relation(target_relation, 'unbalanced') -%}
  {%- set input = versioned_collapsing.get_input_sql(target_relation, options) -%}
  {%- set is_unbalanced = '(' ~ key ~ ') in (select ' ~ key ~ ' from ' ~ unbalanced ~ ')' -%}
  {%- set rows_sql -%}
    select {{ row }}, {{ versioned_collapsing.quote_name(options.sign) }} as _dbt_row_sign, false as _dbt_is_change_row
    from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
    where {{ is_unbalanced }}

    union all

    select {{ row }}, toInt8(0) as _dbt_row_sign, true as _dbt_is_change_row
    from {{ input }}
    where {{ is_unbalanced }} and not _dbt_is_deleted and not _dbt_is_tombstoned
  {%- endset -%}
  {%- set ends_sql -%}
    select
      {{ key }},
      {{ versioned_collapsing.quote_name(options.version) }} as _dbt_deleted_at,
      true as _dbt_is_tombstone
    from {{ input }}
    where {{ is_unbalanced }} and _dbt_is_deleted and not _dbt_is_tombstoned
  {%- endset -%}
  {{ versioned_collapsing.get_repair_rows_sql(
      options, columns, versioned_collapsing.get_repairs_sql(rows_sql, ends_sql, options, columns)
  ) }}
{%- endmacro %}
