{# The rows that repair unbalanced keys, whose uncollapsed rows are not exactly one state row: a run died, or another
   writer left them so. They are the opposite of every uncollapsed row that should not be there, and the state row that
   should be there, if it is missing. Two different state rows of the highest version stay until a newer change replaces
   them: no cancel row could tell them apart. One flag per step:

   | flag of a key | what it says                                                                               |
   | ------------- | ------------------------------------------------------------------------------------------ |
   | stored_rows   | its uncollapsed rows; states: the state rows among them (both from the start)              |
   | change        | its staged change, as a state row; change_deletes: whether it is a delete (from the start) |
   | has_live      | it has a state row; live_version: the highest version of its state rows                    |
   | is_accepted   | the change replaces what is stored                                                         |
   | surplus       | the rows that should not be there: all but one of each state row that stays                |
   | added         | the state row that should be there and is missing, if any                                  |
   | written_rows  | surplus and added; written_signs: the signs with which they are written                    | #}
{% macro get_rebalancing_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {%- set others = columns.names | reject('in', options.unique_key) | list -%}
  with _dbt_per_key as (
    {{ versioned_collapsing._get_unbalanced_rows_sql(target_relation, options, columns, uncollapsed) }}
  ),
  {{ versioned_collapsing.get_steps_sql(
      '_dbt_per_key', versioned_collapsing._get_rebalancing_steps(options), '_dbt_rebalanced'
  ) }}
  select
    {{ get_quoted_csv(options.unique_key) }},
    {%- for name in others %}
    {{ versioned_collapsing.get_element_sql('_dbt_written', name) }},
    {%- endfor %}
    _dbt_written_sign
  from _dbt_rebalanced
  array join _dbt_written_rows as _dbt_written, _dbt_written_signs as _dbt_written_sign
{%- endmacro %}


{# For each unbalanced key that changes: its uncollapsed rows, the state rows among them, and the change, as named
   tuples. #}
{% macro _get_unbalanced_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set unbalanced = versioned_collapsing.get_helper_relation(target_relation, 'unbalanced') -%}
  {%- set is_unbalanced = '(' ~ key ~ ') in (select ' ~ key ~ ' from ' ~ unbalanced ~ ')' -%}
  {%- set sign = adapter.quote(options.sign) -%}
  {%- set others = columns.table | rejectattr('name', 'in', options.unique_key) | list -%}
  select
    {{ key }},
    groupArrayIf(_dbt_any_row, _dbt_is_stored) as _dbt_stored_rows,
    groupArrayIf(_dbt_any_row, _dbt_is_state) as _dbt_states,
    anyIf(_dbt_any_row, not _dbt_is_stored) as _dbt_change,
    anyIf(_dbt_deletes, not _dbt_is_stored) as _dbt_change_deletes,
    anyIf(_dbt_tombstoned, not _dbt_is_stored) as _dbt_change_is_tombstoned
  from (
    select
      {{ key }},
      {{ versioned_collapsing.get_named_tuple_sql(others, options.sign, sign) }} as _dbt_any_row,
      true as _dbt_is_stored,
      {{ sign }} = 1 as _dbt_is_state,
      false as _dbt_deletes,
      false as _dbt_tombstoned
    from {{ versioned_collapsing.get_uncollapsed_rows_sql(target_relation, uncollapsed) }}
    where {{ is_unbalanced }}

    union all

    select
      {{ key }},
      {{ versioned_collapsing.get_named_tuple_sql(others, options.sign, '1') }},
      false as _dbt_is_stored,
      false as _dbt_is_state,
      _dbt_is_deleted,
      _dbt_is_tombstoned
    from {{ versioned_collapsing.get_helper_relation(target_relation, 'input') }}
    where {{ is_unbalanced }}
  )
  group by {{ key }}
  having countIf(not _dbt_is_stored) > 0
{%- endmacro %}


{# A row as a named tuple. Its elements are called like the columns and the sign, with a prefix, because a name such as
   `null` is not allowed for an element. #}
{% macro get_named_tuple_sql(table, sign, sign_sql) -%}
  {%- set types = [] -%}
  {%- for column in table + [{'name': sign, 'type': 'Int8'}] -%}
    {%- set name = ('_dbt_' ~ column.name) | replace('\\', '\\\\') | replace('`', '\\`') -%}
    {%- do types.append('`' ~ name ~ '` ' ~ column.type) -%}
  {%- endfor -%}
  {%- set type = versioned_collapsing.quote_literal('Tuple(' ~ types | join(', ') ~ ')') -%}
  cast(tuple({{ get_quoted_csv(table | map(attribute='name')) }}, toInt8({{ sign_sql }})), {{ type }})
{%- endmacro %}


{# One flag per step; get_rebalancing_rows_sql says what each flag means. #}
{% macro _get_rebalancing_steps(options) %}
  {%- set version = versioned_collapsing.get_element_sql('_dbt_row', options.version) -%}
  {%- set changed = versioned_collapsing.get_element_sql('_dbt_change', options.version) -%}
  {%- set sign = versioned_collapsing.get_element_sql('_dbt_row', options.sign) -%}
  {%- set is_accepted -%}
    not _dbt_change_is_tombstoned
      and if(
        _dbt_has_live,
        {{ changed }} > _dbt_live_version or (_dbt_change_deletes and {{ changed }} = _dbt_live_version),
        not _dbt_change_deletes
      )
  {%- endset -%}
  {%- set surplus -%}
    arrayFilter(
      (_dbt_row, _dbt_position) -> not (
        _dbt_has_live
        and not _dbt_is_accepted
        and {{ sign }} = 1
        and {{ version }} = _dbt_live_version
        and _dbt_position = indexOf(_dbt_stored_rows, _dbt_row)
      ),
      _dbt_stored_rows,
      arrayEnumerate(_dbt_stored_rows)
    )
  {%- endset -%}
  {%- set written_signs -%}
    arrayConcat(
      arrayMap(_dbt_row -> toInt8(-{{ sign }}), _dbt_surplus),
      arrayMap(_dbt_row -> toInt8(1), _dbt_added)
    )
  {%- endset -%}
  {%- do return({
      '_dbt_has_live': 'notEmpty(_dbt_states)',
      '_dbt_live_version': 'arrayMax(_dbt_row -> ' ~ version ~ ', _dbt_states)',
      '_dbt_is_accepted': is_accepted,
      '_dbt_surplus': surplus,
      '_dbt_added': 'if(_dbt_is_accepted and not _dbt_change_deletes, [_dbt_change], [])',
      '_dbt_written_rows': 'arrayConcat(_dbt_surplus, _dbt_added)',
      '_dbt_written_signs': written_signs,
  }) -%}
{% endmacro %}


{# An element of a tuple that get_named_tuple_sql makes. #}
{% macro get_element_sql(row, name) %}
  {%- do return('tupleElement(' ~ row ~ ', ' ~ versioned_collapsing.quote_literal('_dbt_' ~ name) ~ ')') -%}
{% endmacro %}
