{# For each torn key that changes: its uncollapsed rows, the state rows among them, and the change, as named tuples. #}
{% macro _get_torn_rows_sql(target_relation, options, columns, uncollapsed) -%}
  {%- set key = get_quoted_csv(options.unique_key) -%}
  {%- set torn = versioned_collapsing.get_helper_relation(target_relation, 'torn') -%}
  {%- set is_torn = '(' ~ key ~ ') in (select ' ~ key ~ ' from ' ~ torn ~ ')' -%}
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
    where {{ is_torn }}

    union all

    select
      {{ key }},
      {{ versioned_collapsing.get_named_tuple_sql(others, options.sign, '1') }},
      false as _dbt_is_stored,
      false as _dbt_is_state,
      _dbt_is_deleted,
      _dbt_is_tombstoned
    from {{ versioned_collapsing.get_helper_relation(target_relation, 'changes') }}
    where {{ is_torn }}
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


{# An element of a tuple that get_named_tuple_sql makes. #}
{% macro get_element_sql(row, name) %}
  {%- do return('tupleElement(' ~ row ~ ', ' ~ versioned_collapsing.quote_literal('_dbt_' ~ name) ~ ')') -%}
{% endmacro %}
